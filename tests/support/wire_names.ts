/** Short names for the ids of a recorded wire: tasks T1, T2 …, contexts, sessions, questions, in the order of their first use. */
import { isObject, type Json, text } from "../../src/json.ts";
import type { Wire } from "./wires.ts";

const FIELDS: Readonly<Record<string, string>> = {
  taskId: "T",
  requestTaskId: "T",
  contextId: "C",
  iacCodeSessionId: "S",
  sessionId: "S",
  inputId: "Q",
  pipelineRunId: "pipeline-run",
  artifactId: "A",
  toolUseId: "K",
};

/** The names of all ids that the kernel gives out in a wire. */
export function namesOf(wire: Wire): Map<string, string> {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();

  function note(id: string, prefix: string): void {
    // A detail that a tool shows has an id that is made of the tool's.
    if (names.has(id) || id.startsWith("call_") && id.includes(":")) return;
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    names.set(id, `${prefix}${count}`);
  }

  function look(value: Json): void {
    if (Array.isArray(value)) return value.forEach(look);
    if (!isObject(value)) return;
    if (text(value.contextId) !== undefined && isObject(value.status) && text(value.id)) note(String(value.id), "T");
    for (const [key, item] of Object.entries(value)) {
      const prefix = FIELDS[key];
      const id = text(item);
      if (prefix !== undefined && id !== undefined) note(id, prefix);
      look(item);
    }
  }

  for (const { frames, body } of wire.exchanges) {
    for (const { data } of frames) look(data);
    if (body !== undefined) look(body);
  }
  // A question's id may hold the id of its tool call: the longer one goes first.
  return new Map([...names].sort(([one], [other]) => other.length - one.length));
}
