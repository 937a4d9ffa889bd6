/** One interrupt in the form: its question, what the metadata says about it, and the ways to answer. */
import type { VNode } from "preact";
import { type Choice, detailsOf, type Entered, type Form, type Picked, questionOf } from "../state/interrupt_form.ts";
import type { Say } from "../state/words.ts";
import type { WordKey } from "../state/words_en.ts";
import { ChoiceFields } from "./choice_fields.tsx";
import { useWords } from "./words.tsx";

const DETAIL_NAMES = {
  title: "detailTitle",
  purpose: "detailPurpose",
  effect: "detailEffect",
  target: "detailTarget",
  toolName: "detailToolName",
  safeSummary: "detailSafeSummary",
  deploymentSummary: "detailDeploymentSummary",
} as const satisfies Record<string, WordKey>;

/** What is asked. */
export function Question({ form }: { form: Form }): VNode {
  const { say } = useWords();
  const details = detailsOf(form.interrupt);
  return (
    <>
      <p class="question">{questionOf(form)}</p>
      {details.length > 0 && (
        <dl class="details">
          {details.map(({ name, value }) => (
            <div key={name}>
              <dt>{say(DETAIL_NAMES[name])}</dt>
              <dd class={name === "safeSummary" || name === "toolName" ? "code" : undefined}>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

/** What a choice is called; the two decisions of a permission have words of the page. */
export function labelOf({ label, fields: [field] }: Choice, say: Say): string {
  if (label === "allow_once") return say("allowOnce");
  if (label === "deny") return say("deny");
  return label !== "" ? label : field === undefined || field.label === "freeText" ? say("ownAnswer") : field.label;
}

interface ButtonsProps {
  form: Form;
  onPick: (choice: Choice | undefined) => void;
}

/** The choices of a single question as buttons that answer at once. */
export function Buttons({ form, onPick }: ButtonsProps): VNode {
  const { say } = useWords();
  return (
    <p class="buttons">
      {form.choices.map((choice, at) => (
        <button
          key={choice.id}
          type="button"
          class={at === 0 && choice.detail === undefined ? "main" : undefined}
          onClick={() => onPick(choice)}
        >
          {labelOf(choice, say)}
          {choice.detail !== undefined && <small>{choice.detail}</small>}
        </button>
      ))}
      <button type="button" onClick={() => onPick(undefined)} title={say("notAnsweredAbout")}>
        {say("notAnswered")}
      </button>
    </p>
  );
}

interface ChoicesProps {
  form: Form;
  picked: Picked | undefined;
  onPick: (choice: Choice | undefined, entered?: Entered) => void;
}

/** The choices to pick from, with the fields of the one that was picked. */
export function Choices({ form: { interrupt, choices }, picked, onPick }: ChoicesProps): VNode {
  const { say } = useWords();
  const group = `answer ${interrupt.id}`;
  return (
    <ul class="choices">
      {choices.map((choice) => (
        <li key={choice.id}>
          <Radio
            group={group}
            label={labelOf(choice, say)}
            detail={choice.detail}
            checked={picked?.choice?.id === choice.id}
            onPick={() => onPick(choice)}
          />
          {picked?.choice?.id === choice.id && choice.fields.length > 0 && (
            <ChoiceFields
              id={group}
              choice={choice}
              entered={picked.entered}
              onEnter={(entered) => onPick(choice, entered)}
            />
          )}
        </li>
      ))}
      <li>
        <Radio
          group={group}
          label={say("notAnswered")}
          detail={say("notAnsweredAbout")}
          checked={picked !== undefined && picked.choice === undefined}
          onPick={() => onPick(undefined)}
        />
      </li>
    </ul>
  );
}

interface RadioProps {
  group: string;
  label: string;
  detail: string | undefined;
  checked: boolean;
  onPick: () => void;
}

function Radio({ group, label, detail, checked, onPick }: RadioProps): VNode {
  return (
    <label>
      <input type="radio" name={group} checked={checked} onChange={onPick} />
      <span>
        {label}
        {detail !== undefined && <small>{detail}</small>}
      </span>
    </label>
  );
}
