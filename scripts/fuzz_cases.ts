/** What fuzz.ts tries: each case is one request to a running service, and the reason why its answer is wrong, if it is. */
import { isObject, type JsonObject } from "../src/json.ts";
import { jsonText, mutateBytes, mutateJson } from "../tests/support/mutate.ts";
import type { Random } from "../tests/support/random.ts";
import { connect, postBytes } from "../tests/support/raw_client.ts";
import { readEvents } from "../tests/support/run_reader.ts";
import type { TestServer } from "../tests/support/server.ts";
import { type Call, frame, type Script, type StandInKernel } from "../tests/support/stand_in_kernel.ts";
import { foreignFrame } from "../tests/support/stand_in_task.ts";

export interface Bench {
  readonly server: TestServer;
  readonly kernel: StandInKernel;
  readonly random: Random;
  /** A number that no case had before. */
  readonly number: number;
}

/** Tries one case; the reason when the service has answered wrongly. */
export type FuzzCase = (bench: Bench) => Promise<string | undefined>;

export const FUZZ_CASES: Readonly<Record<string, FuzzCase>> = {
  bodies: fuzzBody,
  headers: fuzzHead,
  frames: fuzzFrames,
  files: fuzzFile,
};

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
/** A PNG of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function validBody({ server, random, number }: Bench): JsonObject {
  const image = { type: "image", source: { type: "data", mimeType: "image/png", value: PIXEL } };
  const content = random.pick([
    { text: "Hello" },
    { more: { messages: [{ id: "m", role: "user", content: [{ type: "text", text: "See" }, image] }] } },
    { resume: [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }] },
    {
      iac: {
        thinking: { enabled: true, effort: "high", budget: 1 },
        alibabaCloud: { accessKeyId: "id-of-a-key", accessKeySecret: "secret-of-a-key", regionId: "cn-hangzhou" },
        llmApiKey: "key-of-a-model",
        preferredLanguage: "de",
      },
    },
  ]);
  return server.input(random.chance(0.1) ? "again" : `body-${number}`, `run-${number}`, content);
}

async function fuzzBody(bench: Bench): Promise<string | undefined> {
  const { server, random } = bench;
  const valid = validBody(bench);
  const text = random.chance(0.7) ? jsonText(mutateJson(valid, random), random) : JSON.stringify(valid);
  const body = random.chance(0.3) ? mutateBytes(bytesOf(text), random) : text;
  return await judge(await server.post(body), [400, 404, 409, 413, 415]);
}

/** Bytes of a request, changed in its head: whatever comes of them is an answer without a 5xx, or the end of the connection. */
async function fuzzHead(bench: Bench): Promise<string | undefined> {
  const { server, random } = bench;
  const more = random.pick([
    {},
    { origin: "https://evil.example" },
    { "accept-language": "de;q=0.9,*;q=0" },
    { authorization: "Bearer x" },
    { "content-length": "", "transfer-encoding": "chunked" },
    { expect: "100-continue" },
    { host: "evil.example" },
  ]);
  const [head = "", body = ""] = postBytes(validBody(bench), more).split("\r\n\r\n");
  const changed = mutateBytes(bytesOf(`${head}\r\n\r\n`), random);
  const client = await connect(server.port, changed);
  await client.write(body).catch(() => undefined);
  await client.halfClose().catch(() => undefined);
  const answer = await client.until("\u0000never\u0000").catch(() => "");
  client.close();
  return /^HTTP\/1\.[01] 5\d\d/.test(answer) ? `answered ${answer.slice(0, 200)}` : undefined;
}

/** The frames of a turn, one of them changed, or cut off, or asked for again by other calls whose answers are changed. */
async function fuzzFrames({ server, kernel, random, number }: Bench): Promise<string | undefined> {
  kernel.turn(oddTurn(random));
  // A task that works on would be waited for as long as its stream is open.
  kernel.on("SubscribeToTask", (call) => call.send({ task: call.task.snapshot() }, ...call.task.finish("words.")));
  if (random.chance(0.3)) {
    for (const name of ["GetTask", "SubscribeToTask", "CancelTask", "pipeline-state"] as const) {
      kernel.on(name, oddAnswer(random));
    }
  }
  const input = server.input(`frames-${number}`, "run-1", { iac: { runMode: random.pick(["normal", "pipeline"]) } });
  return await judge(await server.post(JSON.stringify(input)), []);
}

function turnOf({ task }: Call, random: Random): JsonObject[] {
  const call = { toolUseId: "call-1", name: "list_files" };
  return [
    ...task.begin(),
    task.working({ thinking: { type: "raw_thinking", text: "hm" } }),
    task.text("Some "),
    task.working({ tool: { ...call, status: "started" } }),
    task.working({ tool: { ...call, status: "input_complete", toolInput: { path: "." } } }),
    task.working({ tool: { ...call, status: "completed", result: "a.txt" } }),
    task.working({ pipeline: envelope(1, "step_started", task.contextId) }),
    task.working({ pipelineBatch: { events: [envelope(2, "text_delta", task.contextId)] } }),
    { artifactUpdate: { taskId: task.id, contextId: task.contextId, artifact: { artifactId: "a", parts: [] } } },
    task.text("words."),
    ...(random.chance(0.3) ? task.permission("permission-1") : []),
    ...task.finish("words."),
  ];
}

function envelope(sequence: number, eventType: string, pipelineRunId: string): JsonObject {
  return {
    schemaVersion: "1.0",
    eventId: `event-${sequence}`,
    sequence,
    eventType,
    scope: "step",
    pipelineName: "selling",
    pipelineRunId,
    step: { id: "plan", runId: "step-1", index: 1, total: 2, attempt: 1 },
    data: { text: "planned" },
  };
}

function oddTurn(random: Random): Script {
  return async (call) => {
    const all = turnOf(call, random);
    const at = random.between(0, all.length - 1);
    const odd = mutateJson(all[at] ?? {}, random);
    const text = random.pick([
      () => frame(call, isObject(odd) ? odd : {}),
      () => frame(call, foreignFrame(call.task.contextId)),
      () => `data: ${JSON.stringify(odd)}\r\n\r\n`,
      () => new TextDecoder().decode(mutateBytes(bytesOf(frame(call, all[at] ?? {})), random)),
    ])();
    await call.send(...all.slice(0, at));
    await call.raw(text);
    await call.send(...all.slice(at + (random.chance(0.5) ? 1 : 0)));
    if (random.chance(0.3)) await call.cut();
  };
}

function oddAnswer(random: Random): Script {
  return async (call) => {
    const whole = { jsonrpc: "2.0", id: call.rpcId, result: call.task.snapshot() };
    const text = JSON.stringify(mutateJson(whole, random));
    if (call.name !== "SubscribeToTask") {
      return await call.answer(random.pick([200, 200, 404, 409, 500]), "application/json", text);
    }
    await call.raw(`data: ${text}\r\n\r\n`);
  };
}

/** A thread's file, changed: it is used, or the request is 503 and the file as it was. */
async function fuzzFile({ server, random, number }: Bench): Promise<string | undefined> {
  const threadId = `file-${number}`;
  const path = `${server.threads}/${threadId}.json`;
  const valid = { ...await server.file("template"), threadId };
  const text = random.chance(0.7) ? JSON.stringify(mutateJson(valid, random)) : JSON.stringify(valid);
  const bytes = random.chance(0.5) ? mutateBytes(bytesOf(text), random) : bytesOf(text);
  await Deno.writeFile(path, bytes);
  const resume = [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }];
  const input = server.input(threadId, `run-${number}`, random.chance(0.5) ? {} : { resume });
  const response = await server.post(JSON.stringify(input));
  const { status } = response;
  const wrong = await judge(response, [409, 503]);
  if (wrong !== undefined || status !== 503) return wrong;
  const after = await Deno.readFile(path);
  const isSame = after.length === bytes.length && after.every((byte, at) => byte === bytes[at]);
  return isSame ? undefined : "a file that cannot be used was changed";
}

/** A stream is to be whole, by our own strict check; anything else one of the statuses, with its envelope. */
async function judge(response: Response, statuses: readonly number[]): Promise<string | undefined> {
  if (response.status === 200) {
    const run = await readEvents(response);
    const { code } = await run.last();
    return code === "INTERNAL_ERROR" ? "a run ended with INTERNAL_ERROR" : undefined;
  }
  const text = await response.text();
  if (!statuses.includes(response.status)) return `HTTP ${response.status}: ${text.slice(0, 200)}`;
  const body: unknown = JSON.parse(text);
  const isEnvelope = isObject(body) && isObject(body.error) && typeof body.error.code === "string";
  return isEnvelope ? undefined : `no envelope: ${text.slice(0, 200)}`;
}
