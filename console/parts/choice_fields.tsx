/** The inputs of a choice that wants more than to be picked. */
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Choice, Entered, Field } from "../state/interrupt_form.ts";

interface ChoiceFieldsProps {
  /** Begins the ids of the inputs. */
  id: string;
  choice: Choice;
  entered: Entered;
  onEnter: (entered: Entered) => void;
}

/** The inputs; the first of them gets the focus. */
export function ChoiceFields({ id, choice, entered, onEnter }: ChoiceFieldsProps): VNode {
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => container.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), []);
  return (
    <div class="fields" ref={container}>
      {choice.fields.map((field) => (
        <FieldInput
          key={field.name}
          id={`${id} ${field.name}`}
          field={field}
          // The choice is called by its only field then.
          isNamed={choice.label === "" && choice.fields.length === 1}
          value={entered[field.name] ?? ""}
          onValue={(value) => onEnter({ ...entered, [field.name]: value })}
        />
      ))}
    </div>
  );
}

interface FieldInputProps {
  id: string;
  field: Field;
  /** Whether the label stands above the field already. */
  isNamed: boolean;
  value: string;
  onValue: (value: string) => void;
}

function FieldInput({ id, field, isNamed, value, onValue }: FieldInputProps): VNode {
  const { as, label, required, choices } = field;
  const name = <span class={isNamed ? "unseen" : undefined}>{label}</span>;
  const input = (event: { currentTarget: { value: string } }): void => onValue(event.currentTarget.value);
  switch (as) {
    case "switch":
      return (
        <label>
          <input
            type="checkbox"
            checked={value === "true"}
            onChange={({ currentTarget }) => onValue(`${currentTarget.checked}`)}
          />
          {label}
        </label>
      );
    case "choice":
      return (
        <label for={id}>
          {name}
          <select id={id} value={value} required={required} onChange={input}>
            <option value="" />
            {choices.map((choice) => (
              <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>{String(choice)}</option>
            ))}
          </select>
        </label>
      );
    case "number":
      return (
        <label for={id}>
          {name}
          <input id={id} type="number" step="any" value={value} required={required} onInput={input} />
        </label>
      );
    default:
      return (
        <label for={id}>
          {name}
          <textarea
            id={id}
            rows={as === "json" ? 5 : 2}
            value={value}
            required={required}
            onInput={input}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
        </label>
      );
  }
}
