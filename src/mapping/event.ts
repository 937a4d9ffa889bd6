/**
 * The AG-UI events that we send, as plain data without their timestamps; what is absent is left out, never null
 * (reference "Standard event mapping"). Tests hold them against the schemas of @ag-ui/core.
 */
import type { Json, JsonObject } from "../json.ts";

export interface UsageRecord {
  readonly provider?: string;
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens: number;
}

export interface Interrupt {
  readonly id: string;
  readonly reason: "tool_call" | "input_required";
  readonly message: string;
  readonly toolCallId?: string;
  readonly responseSchema: JsonObject;
  /** RFC 3339 in UTC; absent when it never expires. */
  readonly expiresAt?: string;
  readonly metadata: JsonObject;
}

export type RunOutcome =
  | { readonly type: "success" }
  | { readonly type: "interrupt"; readonly interrupts: readonly Interrupt[] };

export type RunEvent =
  | { readonly type: "RUN_STARTED"; readonly threadId: string; readonly runId: string; readonly parentRunId?: string }
  | {
    readonly type: "RUN_FINISHED";
    readonly threadId: string;
    readonly runId: string;
    readonly outcome: RunOutcome;
    readonly usage?: readonly UsageRecord[];
  }
  | {
    readonly type: "RUN_ERROR";
    readonly code: string;
    readonly message: string;
    readonly threadId: string;
    readonly runId: string;
    readonly usage?: readonly UsageRecord[];
  }
  | { readonly type: "TEXT_MESSAGE_START"; readonly messageId: string; readonly role: "assistant" }
  | { readonly type: "TEXT_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
  | { readonly type: "TEXT_MESSAGE_END"; readonly messageId: string }
  | { readonly type: "REASONING_START"; readonly messageId: string }
  | { readonly type: "REASONING_MESSAGE_START"; readonly messageId: string; readonly role: "reasoning" }
  | { readonly type: "REASONING_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
  | { readonly type: "REASONING_MESSAGE_END"; readonly messageId: string }
  | { readonly type: "REASONING_END"; readonly messageId: string }
  | {
    readonly type: "TOOL_CALL_START";
    readonly toolCallId: string;
    readonly toolCallName: string;
    readonly parentMessageId?: string;
  }
  | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
  | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
  | {
    readonly type: "TOOL_CALL_RESULT";
    readonly messageId: string;
    readonly toolCallId: string;
    readonly content: string;
    readonly role: "tool";
  }
  | { readonly type: "STEP_STARTED"; readonly stepName: string }
  | { readonly type: "STEP_FINISHED"; readonly stepName: string }
  | {
    readonly type: "ACTIVITY_SNAPSHOT";
    readonly messageId: string;
    readonly activityType: string;
    readonly content: JsonObject;
    readonly replace: true;
  }
  | { readonly type: "CUSTOM"; readonly name: string; readonly value: Json };
