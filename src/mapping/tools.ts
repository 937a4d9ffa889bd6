/** Tool calls side by side, kept apart by toolUseId: started → input → result (docs/protocol.md, "Text and tools"). Pure. */
import type { JsonObject } from "../json.ts";
import { isObject, text, writeJson } from "../json.ts";
import { SHOWN_CALLS, TOOL_CALLS } from "../limits.ts";
import type { ShownCalls } from "../thread/thread.ts";
import type { RunEvent } from "./event.ts";
import type { Spans } from "./spans.ts";
import type { Speaker } from "./text.ts";

export interface Tools {
  /** Makes sure that a call is known before the user is asked about it. */
  announce(id: string, name: string, speaker: Speaker): void;
  start(id: string, name: string, speaker: Speaker): void;
  /** The whole input, as JSON; ends the call's arguments. */
  input(id: string, name: string, input: unknown, speaker: Speaker): void;
  result(id: string, name: string, result: unknown, speaker: Speaker): void;
  /** What metadata.iac_code.tool says. */
  accept(tool: JsonObject, speaker: Speaker): void;
  /** The calls that this execution's runs have shown; undefined when those of earlier runs are not known. */
  shown(): ShownCalls | undefined;
  /** Whether this run has added to them. */
  hasMoved(): boolean;
}

interface Call {
  ended: boolean;
  answered: boolean;
}

/**
 * Follows the calls of one run. `before` are those that earlier runs of the execution have shown; undefined when nobody wrote
 * them down (the Python adapter does not): then a result needs no start, since its call may have been shown.
 */
export function createTools(before: ShownCalls | undefined, spans: Spans, emit: (event: RunEvent) => void): Tools {
  const calls = new Map<string, Call>();
  let moved = false;
  for (const id of before?.answered ?? []) calls.set(id, { ended: true, answered: true });
  for (const id of before?.open ?? []) calls.set(id, { ended: true, answered: false });

  function call(id: string): Call {
    const known = calls.get(id);
    if (known) return known;
    const fresh = { ended: false, answered: false };
    for (const oldest of calls.keys()) {
      if (calls.size < TOOL_CALLS) break;
      calls.delete(oldest);
    }
    calls.set(id, fresh);
    return fresh;
  }

  const idsOf = (answered: boolean): string[] =>
    [...calls].filter(([, shown]) => shown.answered === answered).map(([id]) => id).slice(-SHOWN_CALLS);

  const tools: Tools = {
    announce(id, name, speaker) {
      if (before) tools.start(id, name, speaker);
    },
    start(id, name, speaker) {
      if (calls.has(id)) return;
      call(id);
      moved = true;
      spans.startTool(id, name, speaker.beforeTool());
    },
    input(id, name, input, speaker) {
      if (!calls.has(id)) {
        if (!before) return;
        tools.start(id, name, speaker);
      }
      const current = call(id);
      if (current.ended) return;
      current.ended = true;
      emit({ type: "TOOL_CALL_ARGS", toolCallId: id, delta: writeJson(input) });
      spans.endTool(id);
    },
    result(id, name, result, speaker) {
      if (!calls.has(id) && before) tools.start(id, name, speaker);
      const current = call(id);
      current.ended = true;
      spans.endTool(id);
      if (current.answered) return;
      current.answered = moved = true;
      speaker.beforeTool();
      speaker.afterTool();
      const content = typeof result === "string" ? result : result === undefined ? "" : writeJson(result);
      emit({ type: "TOOL_CALL_RESULT", messageId: `tool-result-${id}`, toolCallId: id, content, role: "tool" });
    },
    shown: () => before && { open: idsOf(false), answered: idsOf(true) },
    hasMoved: () => moved,
    accept(tool, speaker) {
      const id = text(tool.toolUseId);
      if (id === undefined) return;
      const name = text(tool.name) ?? "tool";
      switch (tool.status) {
        case "started":
          return tools.start(id, name, speaker);
        case "input_complete": {
          const { toolInput, inputSummary } = tool;
          const summary = isObject(inputSummary) || typeof inputSummary === "string" ? { summary: inputSummary } : {};
          return tools.input(id, name, toolInput ?? summary, speaker);
        }
        case "completed":
        case "failed":
          return tools.result(id, name, tool.result, speaker);
        case "progress":
          return emit({ type: "CUSTOM", name: "iac-code.tool-progress.v1", value: { schemaVersion: 1, ...tool } });
      }
    },
  };
  return tools;
}
