/** The small entries of a conversation: notices, stacks, given answers, ends of runs and errors. */
import type { VNode } from "preact";
import type { AnswerEntry, EndEntry, ErrorEntry, NoticeEntry, StackEntry } from "../state/view.ts";
import { useWords } from "./words.tsx";

/** News of a pipeline. */
export function Notice({ notice: { tone, title, text } }: { notice: NoticeEntry }): VNode {
  return (
    <p class={`news ${tone}`}>
      <strong>{title.replaceAll("_", " ")}</strong> {text}
    </p>
  );
}

/** A stack on its way. */
export function Stack({ stack: { name, status, percent, resources } }: { stack: StackEntry }): VNode {
  const { say } = useWords();
  return (
    <section class="card" aria-label={`${say("stack")} ${name}`}>
      <p class="head">
        <span class="label">{say("stack")}</span> <strong class="name">{name}</strong>{" "}
        <code class="state">{status}</code>
      </p>
      {percent !== undefined && (
        <p class="percent">
          <progress max={100} value={percent} aria-label={name} /> {percent} %
        </p>
      )}
      {resources.length > 0 && (
        <ul class="resources">
          {resources.map((resource) => (
            <li key={resource.name}>
              {resource.name} <code>{resource.status}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What was answered. */
export function AnswerRecord({ answers }: Pick<AnswerEntry, "answers">): VNode {
  const { say } = useWords();
  return (
    <>
      <span class="who">{say("you")}</span>
      <dl class="said">
        {answers.map(({ question, answer }) => (
          <div key={question}>
            <dt>{question}</dt>
            <dd>{answer}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

const ENDS = { success: "endSuccess", interrupt: "endInterrupt", error: "endError" } as const;

/** How a run ended, how long it took and what it used. */
export function RunEnd({ end: { outcome, usage, tookMs } }: { end: EndEntry }): VNode {
  const { say } = useWords();
  const used = usage.map(({ provider = "", model = "", inputTokens = 0, outputTokens = 0 }) =>
    say("usage", {
      model: [provider, model].filter((part) => part !== "").join("/"),
      input: inputTokens,
      output: outputTokens,
    })
  );
  const took = tookMs === undefined ? [] : [say("seconds", { count: (tookMs / 1000).toFixed(1) })];
  return <p class="run-end">{[say(ENDS[outcome]), ...took, ...used].join(" · ")}</p>;
}

/** What went wrong, with its code and what to do. */
export function ErrorCard({ error: { code, message } }: { error: ErrorEntry }): VNode {
  const { say, advise } = useWords();
  const isStop = code === "CANCELLED" || code === "abort";
  return (
    <div class={isStop ? "card stop" : "card error"} role={isStop ? undefined : "alert"}>
      <p class="head">
        <strong>{say(isStop ? "cancelled" : "error")}</strong>
        {code !== undefined && <code>{code}</code>}
      </p>
      {message !== "" && <p class="message">{message}</p>}
      <p class="advice">{advise(code)}</p>
    </div>
  );
}
