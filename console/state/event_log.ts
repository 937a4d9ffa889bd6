/** Everything that went over the wire, in its order: what was sent, every event, every answer that was no stream. */
import type { Event } from "@ag-ui/core";
import { isObject, type Json, text } from "../../src/json.ts";

export interface Row {
  readonly number: number;
  /** Milliseconds since 1970, by this page's clock. */
  readonly time: number;
  readonly direction: "sent" | "received";
  /** Type of an event, with the name of a CUSTOM one; method and path, or status, of a request. */
  readonly type: string;
  readonly value: Json;
  readonly isEvent: boolean;
}

/** More rows than this and the oldest are let go. */
const MAX_ROWS = 50_000;

export interface EventLog {
  readonly rows: readonly Row[];
  addEvent(event: Event, time: number): void;
  addRequest(type: string, value: Json, time: number): void;
  addAnswer(type: string, value: Json, time: number): void;
}

/** An empty log. It grows in place: thousands of rows a second would be too many copies. */
export function createEventLog(): EventLog {
  const rows: Row[] = [];
  let number = 0;
  function add(row: Omit<Row, "number">): void {
    rows.push({ number: ++number, ...row });
    if (rows.length > MAX_ROWS) rows.splice(0, MAX_ROWS / 10);
  }
  return {
    rows,
    addEvent(event, time) {
      add({ time, direction: "received", type: typeOf(event), value: event as unknown as Json, isEvent: true });
    },
    addRequest: (type, value, time) => add({ time, direction: "sent", type, value, isEvent: false }),
    addAnswer: (type, value, time) => add({ time, direction: "received", type, value, isEvent: false }),
  };
}

function typeOf(event: Event): string {
  return event.type === "CUSTOM" ? `CUSTOM ${event.name}` : event.type;
}

/** What a row says in one line. */
export function summaryOf({ value, type }: Row): string {
  if (!isObject(value)) return text(value) ?? "";
  const said = [
    value.delta,
    value.content,
    value.toolCallName,
    value.stepName,
    isObject(value.value) ? value.value.eventType : undefined,
    isObject(value.outcome) ? value.outcome.type : undefined,
    value.code,
    value.activityType,
    type.startsWith("POST") ? undefined : value.runId,
  ];
  const found = said.map(text).find((part) => part !== undefined) ?? "";
  return found.slice(0, 200).replaceAll(/\s+/g, " ");
}

/** The rows of a type; all of them when the type is empty. */
export function filterRows(rows: readonly Row[], type: string): readonly Row[] {
  return type === "" ? rows : rows.filter((row) => row.type === type);
}

/** The types that occur with their numbers, in the order in which they first occurred. */
export function typesOf(rows: readonly Row[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { type } of rows) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

/** The events among the rows, one JSON a line. */
export function toNdjson(rows: readonly Row[]): string {
  return rows.filter(({ isEvent }) => isEvent).map(({ value }) => `${JSON.stringify(value)}\n`).join("");
}
