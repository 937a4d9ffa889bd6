/**
 * All error codes: where each may occur and which sentence tells it (reference "Errors", docs/protocol.md).
 * A code with a `status` may answer before the stream; a code with `run` may end a run as RUN_ERROR.
 */
import type { MessageKey } from "./language/messages.ts";

interface ErrorRow {
  /** HTTP status when it answers before the stream. */
  readonly status?: number;
  /** May end a run. */
  readonly run?: true;
  readonly message: MessageKey;
}

export const ERRORS = {
  FORBIDDEN_HOST: { status: 403, message: "forbiddenHost" },
  FORBIDDEN_ORIGIN: { status: 403, message: "forbiddenOrigin" },
  NOT_FOUND: { status: 404, message: "notFound" },
  METHOD_NOT_ALLOWED: { status: 405, message: "methodNotAllowed" },
  UNAUTHORIZED: { status: 401, message: "unauthorized" },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: "unsupportedMediaType" },
  REQUEST_TOO_LARGE: { status: 413, message: "requestTooLarge" },
  REQUEST_TIMEOUT: { status: 408, message: "requestTimeout" },
  INVALID_JSON: { status: 400, message: "invalidJson" },
  INVALID_INPUT: { status: 400, message: "invalidInput" },
  STATE_UNAVAILABLE: { status: 503, message: "stateUnavailable" },
  SERVER_BUSY: { status: 503, message: "serverBusy" },
  DUPLICATE_RUN_ID: { status: 409, message: "duplicateRunId" },
  RUN_ID_CONFLICT: { status: 409, message: "runIdConflict" },
  THREAD_BUSY: { status: 409, message: "threadBusy" },
  THREAD_BINDING_CONFLICT: { status: 409, message: "threadBindingConflict" },
  RESUME_REQUIRED: { status: 409, message: "resumeRequired" },
  EXECUTION_EXPIRED: { status: 409, message: "executionExpired" },
  EXECUTION_LOST: { status: 409, run: true, message: "executionLost" },
  EXECUTION_NOT_FOUND: { status: 404, message: "executionNotFound" },
  INTERNAL_ERROR: { status: 500, run: true, message: "internalError" },
  INCOMPLETE_RESUME: { run: true, message: "incompleteResume" },
  UNKNOWN_INTERRUPT: { run: true, message: "unknownInterrupt" },
  RESUME_PAYLOAD_INVALID: { run: true, message: "resumePayloadInvalid" },
  RESUME_ALREADY_APPLIED: { run: true, message: "resumeAlreadyApplied" },
  SESSION_BACKUP_NOT_READY: { run: true, message: "sessionBackupNotReady" },
  STATE_PERSISTENCE_FAILED: { run: true, message: "statePersistenceFailed" },
  A2A_UNAVAILABLE: { run: true, message: "a2aUnavailable" },
  A2A_PROTOCOL_ERROR: { run: true, message: "a2aProtocolError" },
  A2A_EXECUTION_FAILED: { run: true, message: "a2aExecutionFailed" },
  CANCELLED: { run: true, message: "cancelled" },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
/** Codes that may answer a request before its stream begins. */
export type RefusalCode = { [C in ErrorCode]: typeof ERRORS[C] extends { status: number } ? C : never }[ErrorCode];
/** Codes that may end a run. */
export type RunErrorCode = { [C in ErrorCode]: typeof ERRORS[C] extends { run: true } ? C : never }[ErrorCode];

/** What fills the placeholders of a sentence: field names and limits, never a value that a client sent. */
export type MessageParams = Readonly<Record<string, string | number>>;

/** A request that is answered with an error instead of a stream. */
export interface Refusal {
  readonly code: RefusalCode;
  /** A more precise sentence than the code's own. */
  readonly message?: MessageKey;
  readonly params?: MessageParams;
  readonly details?: unknown;
}

/** Makes a refusal. */
export function refusal(code: RefusalCode, more: Omit<Refusal, "code"> = {}): Refusal {
  return { code, ...more };
}

/** INVALID_INPUT with the sentence and the path of the field that is wrong. */
export function invalid(message: MessageKey, field: string, params: MessageParams = {}): Refusal {
  return { code: "INVALID_INPUT", message, params: { field, ...params } };
}

/** Ends a run as RUN_ERROR from anywhere within it. `reason` is the kernel's own text; it is masked and cut before use. */
export class RunFailure extends Error {
  constructor(readonly code: RunErrorCode, readonly reason?: string, options?: ErrorOptions) {
    super(code, options);
    this.name = "RunFailure";
  }
}
