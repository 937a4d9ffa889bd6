/** RunRequest or answer → A2A params (docs/protocol.md, "The kernel"). Pure. */
import type { JsonObject } from "../json.ts";
import type { ContentPart, RunRequest } from "../request/run_request.ts";

/** A message to the kernel: a new run, or a message into a task that exists. */
export function messageParams(
  request: RunRequest,
  message: { messageId: string; parts: JsonObject[]; contextId: string; cwd: string; taskId?: string },
): JsonObject {
  const { messageId, parts, contextId, cwd, taskId } = message;
  return {
    message: {
      messageId,
      role: "ROLE_USER",
      parts,
      contextId,
      ...(taskId !== undefined && { taskId }),
      metadata: { "iac_code": metadata(request, cwd) },
    },
    configuration: { acceptedOutputModes: ["text/plain"] },
  };
}

/** The parts of a user's message as the kernel takes them. */
export function contentParts(parts: readonly ContentPart[]): JsonObject[] {
  return parts.map((part) =>
    part.kind === "text" ? { text: part.text } : {
      data: { filename: part.image.filename, bytes: part.image.base64 },
      mediaType: part.image.mediaType,
    }
  );
}

/** The part that answers a permission. */
export function permissionPart(taskId: string, inputId: string, toolUseId: unknown, decision: string): JsonObject {
  return {
    data: {
      schemaVersion: 1,
      kind: "permission",
      requestTaskId: taskId,
      inputId,
      ...(typeof toolUseId === "string" && { toolUseId }),
      decision,
    },
    mediaType: "application/json",
  };
}

/** metadata.iac_code: every field of iacCode under the kernel's name; what was not given is absent. */
function metadata({ iacCode }: RunRequest, cwd: string): JsonObject {
  const { thinking, alibabaCloud, llmHeaders } = iacCode;
  const fields = {
    cwd,
    "user_id": iacCode.userId,
    channel: iacCode.channel,
    preferredLanguage: iacCode.preferredLanguage,
    candidatePresentation: iacCode.candidatePresentation,
    "run_mode": iacCode.runMode,
    "pipeline_name": iacCode.pipelineName,
    cleanupOnly: iacCode.cleanupOnly ?? false,
    rosInvocationId: iacCode.rosInvocationId,
    "iac_code_model": iacCode.model,
    "iac_code_api_key": iacCode.llmApiKey,
    "llm_headers": llmHeaders && { ...llmHeaders },
    thinking: thinking && { ...thinking },
    "alibaba_cloud_access_key_id": alibabaCloud?.accessKeyId,
    "alibaba_cloud_access_key_secret": alibabaCloud?.accessKeySecret,
    "alibaba_cloud_security_token": alibabaCloud?.securityToken,
    "alibaba_cloud_region_id": alibabaCloud?.regionId,
  };
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, NonNullable<typeof entry[1]>] => entry[1] !== undefined),
  );
}
