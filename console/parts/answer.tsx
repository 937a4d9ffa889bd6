/** The form that answers all open interrupts at once. */
import type { Interrupt, ResumeEntry } from "@ag-ui/core";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answered } from "../session.ts";
import {
  answerText,
  type Choice,
  type Entered,
  type Form,
  formOf,
  payloadOf,
  type Picked,
  questionOf,
} from "../state/interrupt_form.ts";
import type { Say } from "../state/words.ts";
import { Buttons, Choices, labelOf, Question } from "./question.tsx";
import { useTimeLeft } from "./time_left.ts";
import { useWords } from "./words.tsx";

interface AnswerPanelProps {
  interrupts: readonly Interrupt[];
  busy: boolean;
  onAnswer: (answers: readonly Answered[]) => void;
  /** Stops the whole execution. */
  onCancel: () => void;
}

/** The panel, to be made anew for other interrupts. */
export function AnswerPanel({ interrupts, busy, onAnswer, onCancel }: AnswerPanelProps): VNode {
  const { say } = useWords();
  const [picked, setPicked] = useState<ReadonlyMap<string, Picked>>(new Map());
  const [isMissing, setMissing] = useState(false);
  const left = useTimeLeft(interrupts);
  const forms = interrupts.map(formOf);
  const isOver = left === 0;
  const isQuick = forms.length === 1 && forms.every(isOnlyButtons);

  function submit(given: ReadonlyMap<string, Picked>): void {
    const answers = forms.flatMap((form) => answeredOf(form, given.get(form.interrupt.id), say) ?? []);
    setMissing(answers.length < forms.length);
    if (answers.length === forms.length && !busy) onAnswer(answers);
  }

  function pick(form: Form, choice: Choice | undefined, entered: Entered = {}): ReadonlyMap<string, Picked> {
    const next = new Map(picked).set(form.interrupt.id, { choice, entered });
    setPicked(next);
    return next;
  }

  function send(event: Event): void {
    event.preventDefault();
    submit(isOver ? new Map(interrupts.map(({ id }) => [id, { choice: undefined, entered: {} }])) : picked);
  }

  return (
    <form class="asking" aria-labelledby="answer-title" onSubmit={send}>
      <Title count={forms.length} left={left} />
      {forms.map((form, at) => (
        <fieldset key={form.interrupt.id} disabled={busy || isOver}>
          <legend class={forms.length === 1 ? "unseen" : undefined}>
            {forms.length === 1 ? say("choose") : say("interruptNumber", { number: at + 1, count: forms.length })}
          </legend>
          <Question form={form} />
          {isQuick ? <Buttons form={form} onPick={(choice) => submit(pick(form, choice))} /> : (
            <Choices
              form={form}
              picked={picked.get(form.interrupt.id)}
              onPick={(...given) => void pick(form, ...given)}
            />
          )}
        </fieldset>
      ))}
      {isMissing && <p class="missing" role="alert">{say("answerMissing")}</p>}
      <p class="buttons">
        {(isOver || !isQuick) && (
          <button type="submit" class="main" disabled={busy}>
            {say(isOver ? "discard" : forms.length === 1 ? "sendAnswer" : "sendAnswers")}
          </button>
        )}
        <button type="button" class="quiet" onClick={onCancel} disabled={busy}>{say("cancelExecution")}</button>
      </p>
    </form>
  );
}

/** How many questions there are, and the time left. It takes the focus, so that nobody misses it. */
function Title({ count, left }: { count: number; left: number | undefined }): VNode {
  const { say } = useWords();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <div class="title">
      <h2 id="answer-title" ref={heading} tabIndex={-1}>
        {count === 1 ? say("interruptTitle") : say("interruptTitleMany", { count })}
      </h2>
      {left !== undefined && (
        <p class="time" role="timer">{left === 0 ? say("expired") : say("timeLeft", { time: clock(left) })}</p>
      )}
    </div>
  );
}

function isOnlyButtons({ choices }: Form): boolean {
  return choices.every(({ fields }) => fields.length === 0);
}

/** The answer that was picked; undefined while it is not complete. */
function answeredOf(form: Form, picked: Picked | undefined, say: Say): Answered | undefined {
  if (picked === undefined) return undefined;
  const { id: interruptId } = form.interrupt;
  const target = form.interrupt.metadata?.target;
  const question = [questionOf(form), ...(typeof target === "string" ? [target] : [])].join(" · ");
  const { choice, entered } = picked;
  if (choice === undefined) {
    return { entry: { interruptId, status: "cancelled" }, question, answer: say("notAnswered") };
  }
  const payload = payloadOf(choice, entered);
  if (payload === undefined) return undefined;
  const entry: ResumeEntry = { interruptId, status: "resolved", payload };
  return { entry, question, answer: answerText({ ...choice, label: labelOf(choice, say) }, entered) };
}

function clock(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return `${minutes}:${String(rest).padStart(2, "0")}`;
}
