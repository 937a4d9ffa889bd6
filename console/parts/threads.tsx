/** The threads of this browser. */
import type { VNode } from "preact";
import type { KnownThread } from "../threads.ts";
import { useWords } from "./words.tsx";

interface ThreadsProps {
  threads: readonly KnownThread[];
  current: string;
  onNew: () => void;
  onOpen: (threadId: string) => void;
  onForget: (threadId: string) => void;
}

/** The list of threads, by id. */
export function Threads({ threads, current, onNew, onOpen, onForget }: ThreadsProps): VNode {
  const { say } = useWords();
  return (
    <nav class="threads" aria-labelledby="threads-title">
      <h2 id="threads-title">{say("threads")}</h2>
      <button type="button" onClick={onNew}>{say("newThread")}</button>
      {threads.length > 0 && (
        <ul>
          {threads.map(({ id, waiting }) => (
            <li key={id}>
              <button
                type="button"
                class="thread"
                aria-current={id === current ? "true" : undefined}
                onClick={() => onOpen(id)}
              >
                <code>{id.slice(0, 8)}</code>
                {waiting.length > 0 && <span class="state paused">{say("stepPaused")}</span>}
              </button>
              <button
                type="button"
                class="quiet"
                aria-label={say("forgetThread", { id: id.slice(0, 8) })}
                onClick={() => onForget(id)}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="meta">{say("threadsAbout")}</p>
    </nav>
  );
}
