/** The events beside the conversation. Only the rows in sight are elements, so that thousands cost nothing. */
import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type EventLog, filterRows, type Row, summaryOf, toNdjson, typesOf } from "../state/event_log.ts";
import { saveAs } from "./artifact.tsx";
import { useWords } from "./words.tsx";

/** Height of a row in pixels, as in style.css. */
const ROW = 30;
/** Rows drawn above and below those in sight. */
const SPARE = 10;

/** The log with its filter, and the row that was chosen. */
export function Events({ log, threadId }: { log: EventLog; threadId: string }): VNode {
  const { say } = useWords();
  const [type, setType] = useState("");
  const [chosen, setChosen] = useState<Row>();
  const rows = filterRows(log.rows, type);
  const lastRequest = log.rows.findLast(({ direction }) => direction === "sent");

  function save(): void {
    saveAs(`${threadId}.ndjson`, new Blob([toNdjson(rows)], { type: "application/x-ndjson" }));
  }

  return (
    <section class="events" aria-labelledby="events-title">
      <h2 id="events-title">{say("events")}</h2>
      <div class="tools">
        <select
          aria-label={say("eventsType")}
          value={type}
          onChange={({ currentTarget }) => setType(currentTarget.value)}
        >
          <option value="">{say("eventsAll", { count: log.rows.length })}</option>
          {[...typesOf(log.rows)].map(([name, count]) => <option key={name} value={name}>{name} ({count})</option>)}
        </select>
        <button type="button" disabled={lastRequest === undefined} onClick={() => setChosen(lastRequest)}>
          {say("eventsRequest")}
        </button>
        <button type="button" disabled={rows.length === 0} onClick={save}>{say("eventsDownload")}</button>
      </div>
      {rows.length === 0
        ? <p class="meta">{say("eventsEmpty")}</p>
        : <Rows rows={rows} chosen={chosen} onChoose={setChosen} />}
      {chosen && <Detail row={chosen} onClose={() => setChosen(undefined)} />}
    </section>
  );
}

interface RowsProps {
  rows: readonly Row[];
  chosen: Row | undefined;
  onChoose: (row: Row) => void;
}

function Rows({ rows, chosen, onChoose }: RowsProps): VNode {
  const { say } = useWords();
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [{ top, height }, setWindow] = useState({ top: 0, height: 800 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    look(element);
  });

  function look({ scrollTop, clientHeight }: HTMLElement): void {
    if (scrollTop !== top || clientHeight !== height) setWindow({ top: scrollTop, height: clientHeight });
  }

  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + SPARE);
  return (
    <div
      class="rows"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={say("eventsList")}
      onScroll={({ currentTarget }) => {
        const { scrollHeight, scrollTop, clientHeight } = currentTarget;
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < ROW;
        look(currentTarget);
      }}
    >
      <div class="all" style={{ height: `${rows.length * ROW}px` }}>
        <ol class="window" start={first + 1} style={{ transform: `translateY(${first * ROW}px)` }}>
          {rows.slice(first, last).map((row) => (
            <li key={row.number}>
              <button type="button" aria-pressed={row === chosen} class={row.direction} onClick={() => onChoose(row)}>
                <time>{clock(row.time)}</time>
                <span class="type">{row.direction === "sent" ? "→ " : ""}{row.type}</span>
                <span class="summary">{summaryOf(row)}</span>
              </button>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

function Detail({ row, onClose }: { row: Row; onClose: () => void }): VNode {
  const { say } = useWords();
  const [copied, setCopied] = useState<Row>();
  const area = useRef<HTMLPreElement>(null);
  const json = JSON.stringify(row.value, null, 2);

  async function copy(): Promise<void> {
    // Without TLS, and not on localhost, a page has no clipboard: then the text is selected for the user to copy.
    if (globalThis.isSecureContext) {
      await navigator.clipboard.writeText(json);
      setCopied(row);
    } else if (area.current) getSelection()?.selectAllChildren(area.current);
  }

  return (
    <section class="detail" aria-labelledby="detail-title">
      <h3 id="detail-title">{say("eventDetail", { number: row.number })}: {row.type}</h3>
      <p class="tools">
        <button type="button" onClick={() => void copy()}>{say(copied === row ? "copied" : "copy")}</button>
        <button type="button" class="quiet" onClick={onClose}>{say("close")}</button>
      </p>
      <pre ref={area} tabIndex={0}>{json}</pre>
    </section>
  );
}

/** A time of day with milliseconds. */
function clock(time: number): string {
  const date = new Date(time);
  const pad = (value: number, digits = 2): string => String(value).padStart(digits, "0");
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${
    pad(date.getMilliseconds(), 3)
  }`;
}
