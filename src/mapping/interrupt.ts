/** The kernel's question → AG-UI interrupt, and an answer → what the kernel gets (docs/protocol.md, "Interrupts"). Pure. */
import { isObject, type Json, type JsonObject, text } from "../json.ts";
import { type Language, sentence } from "../language/messages.ts";
import { project } from "../thread/projection.ts";
import type { PendingInput } from "../thread/thread.ts";
import type { Interrupt } from "./event.ts";

interface Option {
  readonly id: string;
  readonly label: string;
}

/** Whether a question asks for leave to run a tool. */
export function isPermission(value: JsonObject): boolean {
  return value.kind === "permission";
}

/** The interrupt of a pending question, as it is announced; `language` is for questions that say nothing themselves. */
export function announce(id: string, { value, expiresAt }: PendingInput, language: Language): Interrupt {
  const options = optionsOf(value);
  const toolCallId = text(value.toolUseId);
  return {
    id,
    reason: isPermission(value) ? "tool_call" : "input_required",
    message: messageOf(value, options, language),
    ...(toolCallId !== undefined && { toolCallId }),
    responseSchema: responseSchema(value),
    ...(expiresAt !== null && { expiresAt: new Date(expiresAt).toISOString() }),
    metadata: {
      schemaVersion: 1,
      ...withoutNulls(project(value)),
      standardOptions: options.map(({ id, label }) => ({ id, title: label })),
    },
  };
}

/** The JSON Schema that an answer's payload has to match. */
export function responseSchema(value: JsonObject): JsonObject {
  if (isPermission(value)) {
    return object({ decision: { type: "string", enum: ["allow_once", "deny"] } });
  }
  const options = optionsOf(value);
  const branches = options.map(({ id, label }) => ({ title: label, ...object({ selectedId: { const: id } }) }));
  const takesText = value.allowFreeText === true || options.length === 0;
  const prompt = text(value.freeTextPrompt);
  const freeText = { type: "string", minLength: 1, ...(prompt !== undefined && { description: prompt }) };
  return { oneOf: [...branches, ...(takesText ? [object({ freeText })] : [])] };
}

/** What a valid payload of a question says: the free text, or the chosen option's label. */
export function answerText(value: JsonObject, payload: Json | undefined): string {
  const { freeText, selectedId } = isObject(payload) ? payload : {};
  if (typeof freeText === "string") return freeText;
  return optionsOf(value).find(({ id }) => id === selectedId)?.label ?? String(selectedId);
}

function object(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function messageOf(value: JsonObject, options: readonly Option[], language: Language): string {
  const asked = text(value.prompt) ?? text(value.title);
  if (isPermission(value)) return asked ?? sentence(language, "permissionRequired");
  return [asked ?? sentence(language, "inputRequired"), ...options.map(({ id, label }) => `- ${id}: ${label}`)].join(
    "\n",
  );
}

/** The options with ids that are unique, so that an answer names exactly one. */
function optionsOf(value: JsonObject): Option[] {
  const used = new Set<string>();
  /** How far the copies of an id are counted: thousands of one would be counted thousands of times each. */
  const copies = new Map<string, number>();
  const raw = Array.isArray(value.options) ? value.options.filter(isObject) : [];
  return raw.map((option, at) => {
    const label = text(option.label) ?? text(option.name) ?? scalar(option.id) ?? String(at + 1);
    const wanted = scalar(option.id) ?? label;
    let id = wanted;
    let copy = copies.get(wanted) ?? 1;
    while (used.has(id)) id = `${wanted}-${++copy}`;
    copies.set(wanted, copy);
    used.add(id);
    return { id, label };
  });
}

function scalar(value: Json | undefined): string | undefined {
  return typeof value === "number" ? String(value) : text(value);
}

/** AG-UI clients refuse nulls. */
function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null));
}
