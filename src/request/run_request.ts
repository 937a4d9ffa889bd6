/** A request that passed validation: what the stations behind it work with. */
import type { Json } from "../json.ts";

/** Parts of the user's message, in their order. */
export type ContentPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly image: ImageContent };

export interface ImageContent {
  /** The true type, by magic bytes. */
  readonly mediaType: ImageType;
  readonly filename: string;
  /** Strict base64, as it came. */
  readonly base64: string;
  /** Decoded size in bytes. */
  readonly bytes: number;
}

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** forwardedProps.iacCode (reference; llmHeaders and activeGuidance: docs/protocol.md). */
export interface IacCode {
  readonly rosInvocationId: string;
  readonly cwd: string;
  readonly model?: string;
  readonly llmApiKey?: string;
  readonly llmHeaders?: Readonly<Record<string, string>>;
  readonly thinking?: { readonly enabled: boolean; readonly effort?: string; readonly budget?: number };
  readonly userId?: string;
  readonly channel?: string;
  readonly preferredLanguage?: string;
  readonly candidatePresentation?: "standard" | "rich";
  readonly runMode?: "normal" | "pipeline";
  readonly pipelineName?: string;
  readonly cleanupOnly?: boolean;
  readonly activeGuidance?: boolean;
  readonly alibabaCloud?: {
    readonly accessKeyId?: string;
    readonly accessKeySecret?: string;
    readonly securityToken?: string;
    readonly regionId?: string;
  };
}

/** One entry of `resume`. */
export interface ResumeEntry {
  readonly interruptId: string;
  readonly status: "resolved" | "cancelled";
  readonly payload?: Json;
}

/** The message of a new run. */
export interface UserMessage {
  readonly id: string;
  readonly parts: readonly ContentPart[];
}

export interface RunRequest {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string;
  readonly iacCode: IacCode;
  /** Absent on a resume. */
  readonly message?: UserMessage;
  /** Absent on a new run; never empty. */
  readonly resume?: readonly ResumeEntry[];
}

export interface CancelRequest {
  readonly threadId: string;
  readonly rosInvocationId: string;
}

/** Every secret that a request carries, for masking; tokens of the service itself are not among them. */
export function secretsOf({ iacCode }: RunRequest): string[] {
  const { llmApiKey, llmHeaders, alibabaCloud } = iacCode;
  const { accessKeyId, accessKeySecret, securityToken } = alibabaCloud ?? {};
  return [llmApiKey, ...Object.values(llmHeaders ?? {}), accessKeyId, accessKeySecret, securityToken].filter(
    (secret): secret is string => secret !== undefined,
  );
}
