/** A tool call: its name and state, folded around its arguments and its result. */
import type { VNode } from "preact";
import type { ToolEntry } from "../state/view.ts";
import type { WordKey } from "../state/words_en.ts";
import { useWords } from "./words.tsx";

const STATUS: Readonly<Record<ToolEntry["status"], WordKey>> = {
  preparing: "toolPreparing",
  running: "toolRunning",
  waiting: "stepPaused",
  done: "toolDone",
  stopped: "toolStopped",
};

/** The card of a tool call. */
export function ToolCard({ tool }: { tool: ToolEntry }): VNode {
  const { say } = useWords();
  const { name, args, result, progress, status, lane } = tool;
  return (
    <details>
      <summary>
        <span class="label">{say("tool")}</span> <code class="name">{name}</code>
        {lane !== undefined && <span class="lane">{lane}</span>}{" "}
        <span class={`state ${status}`}>{say(STATUS[status])}</span>
      </summary>
      {args !== "" && (
        <section>
          <h3>{say("toolArgs")}</h3>
          <pre tabIndex={0}>{pretty(args)}</pre>
        </section>
      )}
      {progress !== undefined && result === undefined && <p class="progress-text">{progress}</p>}
      {result !== undefined && (
        <section>
          <h3>{say("toolResult")}</h3>
          <pre tabIndex={0}>{pretty(result)}</pre>
        </section>
      )}
    </details>
  );
}

/** JSON with indentation; any other text as it is. */
function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
