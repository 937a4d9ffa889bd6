/**
 * JSON → typed request: the AG-UI envelope is open (AG-UI grows), forwardedProps and iacCode are strict (reference
 * "Standard fields", "forwardedProps.iacCode"; docs/protocol.md). Pure; a field's value never enters a message.
 */
import { z } from "zod";
import { invalid, type Refusal } from "../errors.ts";
import { isObject, type Json } from "../json.ts";
import type { MessageKey } from "../language/messages.ts";
import {
  CONTEXT_ITEMS,
  ID_CHARS,
  INVOCATION_CHARS,
  LLM_HEADERS,
  MESSAGES,
  RESUME_ENTRIES,
  TEXT_FIELD_CHARS,
} from "../limits.ts";
import { userMessage } from "./content.ts";
import type { CancelRequest, RunRequest } from "./run_request.ts";

/** The kernel refuses half a surrogate pair anywhere, so it is refused where the field can still be named. */
const unicode = (limit: number) =>
  z.string()
    .refine((value) => isAtMost(value, limit), { error: "fieldTooLong", params: { limit } })
    .refine((value) => value.isWellFormed(), "fieldText");
const id = (limit: number) => unicode(limit).min(1);
const words = unicode(TEXT_FIELD_CHARS);
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\u{10ffff}]*$/u;

/** The Python adapter takes null for an optional field as absent, and so do we. */
const absent = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);

const iacCode = z.strictObject({
  schemaVersion: z.literal(1),
  rosInvocationId: id(INVOCATION_CHARS),
  cwd: words,
  model: absent(words),
  llmApiKey: absent(words),
  llmHeaders: absent(
    // Not z.record, whose mistakes would speak of a "record".
    z.object({}).catchall(words).refine(
      (headers) => Object.entries(headers).every(([name, value]) => HEADER_NAME.test(name) && HEADER_VALUE.test(value)),
      "fieldHeaderName",
    ),
  ),
  thinking: absent(z.strictObject({
    enabled: z.boolean().default(false),
    effort: absent(words),
    budget: absent(z.int().positive()),
  })),
  userId: absent(words),
  channel: absent(words),
  preferredLanguage: absent(words),
  candidatePresentation: absent(z.enum(["standard", "rich"])),
  runMode: absent(z.enum(["normal", "pipeline"])),
  pipelineName: absent(words),
  cleanupOnly: z.boolean().default(false),
  activeGuidance: z.boolean().default(false),
  alibabaCloud: absent(z.strictObject({
    accessKeyId: absent(words),
    accessKeySecret: absent(words),
    securityToken: absent(words),
    regionId: absent(words),
  })),
});

const message = z.looseObject({ id: id(ID_CHARS), role: z.string() });
const history = z.object({ messages: z.array(message) });
const resumeEntry = z.looseObject({
  interruptId: id(ID_CHARS),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional(),
});

const envelope = z.looseObject({
  threadId: id(ID_CHARS),
  runId: id(ID_CHARS),
  parentRunId: absent(id(ID_CHARS)),
  state: z.unknown().refine((value) => value !== undefined, "fieldRequired"),
  messages: z.array(z.unknown()),
  tools: z.array(z.unknown()).max(0),
  context: z.array(z.unknown()),
  forwardedProps: z.strictObject({ iacCode }),
  resume: absent(z.array(resumeEntry)),
});

const cancel = z.looseObject({ threadId: id(ID_CHARS), rosInvocationId: id(INVOCATION_CHARS) });

export type Validated<T> = { readonly request: T } | { readonly refusal: Refusal };

/** A run's body → the request, or INVALID_INPUT for the first field that is wrong. Messages beside a resume are ignored. */
export function validateRun(body: Json): Validated<RunRequest> {
  const crowd = tooMany(body);
  if (crowd) return { refusal: crowd };
  const parsed = envelope.safeParse(body);
  if (!parsed.success) return { refusal: firstProblem(parsed.error, body) };
  const { threadId, runId, parentRunId, messages, forwardedProps, resume } = parsed.data;
  const { schemaVersion: _, ...iac } = forwardedProps.iacCode;
  const base = { threadId, runId, ...(parentRunId !== undefined && { parentRunId }), iacCode: defined(iac) };
  if (resume && resume.length > 0) return { request: { ...base, resume: resume as RunRequest["resume"] & object } };
  const checked = history.safeParse({ messages });
  if (!checked.success) return { refusal: firstProblem(checked.error, body) };
  const found = userMessage(checked.data.messages);
  return "refusal" in found ? found : { request: { ...base, message: found.message } };
}

/** Lists that are longer than anything sensible would keep the validation, and with it everybody, busy. */
function tooMany(body: Json): Refusal | undefined {
  if (!isObject(body)) return undefined;
  const { forwardedProps } = body;
  const iac = isObject(forwardedProps) ? forwardedProps.iacCode : undefined;
  const lists: readonly (readonly [string, Json | undefined, number])[] = [
    ["messages", body.messages, MESSAGES],
    ["context", body.context, CONTEXT_ITEMS],
    ["resume", body.resume, RESUME_ENTRIES],
    ["forwardedProps.iacCode.llmHeaders", isObject(iac) ? iac.llmHeaders : undefined, LLM_HEADERS],
  ];
  for (const [field, value, limit] of lists) {
    const size = Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;
    if (size > limit) return invalid("fieldTooMany", field, { limit });
  }
  return undefined;
}

/** A cancel's body → the request, or INVALID_INPUT. */
export function validateCancel(body: Json): Validated<CancelRequest> {
  const parsed = cancel.safeParse(body);
  if (!parsed.success) return { refusal: firstProblem(parsed.error, body) };
  const { threadId, rosInvocationId } = parsed.data;
  return { request: { threadId, rosInvocationId } };
}

/** A copy without the members that are undefined, at every level. */
function defined(value: object): RunRequest["iacCode"] {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, typeof item === "object" && item !== null ? defined(item) : item]),
  ) as unknown as RunRequest["iacCode"];
}

/** The first issue as a refusal that names the field's path. */
function firstProblem(error: z.ZodError, body: Json): Refusal {
  const [issue] = error.issues;
  if (!issue) return invalid("invalidInput", "$");
  const field = fieldPath(issue.path);
  switch (issue.code) {
    case "unrecognized_keys":
      return invalid("fieldUnknown", fieldPath([...issue.path, issue.keys[0] ?? ""]));
    case "invalid_type":
      if (valueAt(body, issue.path) === undefined) return invalid("fieldRequired", field);
      return invalid("fieldType", field, { expected: issue.expected === "int" ? "integer" : issue.expected });
    case "invalid_value":
      if (valueAt(body, issue.path) === undefined) return invalid("fieldRequired", field);
      return invalid("fieldAllowed", field, { allowed: issue.values.map(String).join(", ") });
    case "too_small":
      return issue.origin === "string" ? invalid("fieldEmpty", field) : invalid("fieldPositive", field);
    case "too_big":
      return issue.origin === "array" ? invalid("toolsNotSupported", field) : invalid("fieldPositive", field);
    case "custom":
      return invalid(issue.message as MessageKey, field, issue.params);
    default:
      return invalid("invalidInput", field);
  }
}

/** Characters, as the Python adapter counts them: an emoji is one. */
function isAtMost(value: string, limit: number): boolean {
  return value.length <= limit || (value.length <= 2 * limit && [...value].length <= limit);
}

/** `forwardedProps.iacCode.cwd`, `messages[2].id`; `$` for the body itself. */
function fieldPath(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => typeof step === "number" ? `[${step}]` : `.${shortKey(String(step))}`).join("");
  return steps.replace(/^\./, "") || "$";
}

/** A key that the client chose: cut, and without characters that could disturb a terminal. */
function shortKey(key: string): string {
  return key.slice(0, 64).toWellFormed().replace(/\p{C}/gu, "?");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[step];
  }
  return at;
}
