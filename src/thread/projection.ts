/** What of a question may be kept on disk and shown (docs/protocol.md, "Interrupts", "Thread files"). Pure. */
import type { JsonObject } from "../json.ts";

/** Anything else of a question stays with the kernel. */
const FIELDS = [
  "schemaVersion",
  "kind",
  "required",
  "inputId",
  "requestTaskId",
  "contextId",
  "prompt",
  "title",
  "purpose",
  "effect",
  "target",
  "isReadOnly",
  "safeSummary",
  "options",
  "toolName",
  "toolUseId",
  "language",
  "allowFreeText",
  "freeTextPrompt",
  "deploymentSummary",
  "scope",
  "subPipelineId",
  "operation",
  "displayParameters",
] as const;

/** The projection of a question that may be stored and shown. */
export function project(value: JsonObject): JsonObject {
  return Object.fromEntries(FIELDS.flatMap((field) => value[field] === undefined ? [] : [[field, value[field]]]));
}
