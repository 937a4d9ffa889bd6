/** docs/observability.md, "Traces" and "Metrics". */
import assert from "node:assert/strict";
import type { JsonObject } from "../src/json.ts";
import { loadTelemetry } from "../src/telemetry.ts";
import { contextIdOf } from "../src/thread/thread.ts";
import { type OtlpReceiver, type ReceivedSpan, startReceiver } from "./support/otlp_receiver.ts";
import { readEvents, type RunReader } from "./support/run_reader.ts";
import { runInput, type ServiceProcess, startProcess } from "./support/service_process.ts";
import {
  afterPermission,
  askPermission,
  say,
  sayAndHold,
  type Script,
  startStandIn,
} from "./support/stand_in_kernel.ts";

const PARENT = { trace: "0af7651916cd43dd8448eb211c80319c", span: "b7ad6b7169203331" };
const TRACEPARENT = `00-${PARENT.trace}-${PARENT.span}-01`;

function startTraced(
  kernelUrl: string,
  receiver: OtlpReceiver,
  env: Record<string, string> = {},
): Promise<ServiceProcess> {
  const exporter = {
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  };
  return startProcess({ kernelUrl, flags: ["--debug"], env: { ...exporter, ...env } });
}

function post({ url }: ServiceProcess, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> {
  const json = { "content-type": "application/json" };
  return fetch(url, { method: "POST", body: JSON.stringify(body), headers: { ...json, ...headers } });
}

/** A resume goes on with tool calls of the run before, which a check of one run alone takes for a fault. */
async function untilFinished(reader: RunReader): Promise<void> {
  await reader.until("RUN_FINISHED");
  await reader.leave();
}

/** Runs to the end of the stream. */
async function runThrough(
  service: ServiceProcess,
  input: JsonObject,
  headers: Record<string, string> = {},
): Promise<RunReader> {
  const reader = await readEvents(await post(service, input, headers));
  if (input.resume === undefined) await reader.last();
  else await untilFinished(reader);
  return reader;
}

const refuseOnce: Script = (call) => call.send(call.task.milestone("FAILED", "Task is already working."));

Deno.test("without OTEL_DENO there is no telemetry, and the kernel gets no trace", async () => {
  assert.equal(await loadTelemetry(), undefined);
  await using kernel = startStandIn();
  await using service = await startProcess({ kernelUrl: kernel.url });
  await runThrough(service, runInput(service.cwd, "thread", "run-1"), { traceparent: TRACEPARENT });
  assert.equal(kernel.got("SendStreamingMessage")[0]?.headers.get("traceparent"), null);
  assert.equal(service.lines.find(({ message }) => message === "run")?.trace, undefined);
});

Deno.test("a caller's trace goes on through request, run and kernel call to the kernel", async () => {
  await using kernel = startStandIn();
  await using receiver = startReceiver();
  await using service = await startTraced(kernel.url, receiver);
  const { events } = await runThrough(service, runInput(service.cwd, "thread", "run-1"), { traceparent: TRACEPARENT });
  assert.equal(await service.stop(), 0);

  const spans = receiver.spans().filter(({ traceId }) => traceId === PARENT.trace);
  const named = (name: string): ReceivedSpan => spans.find((span) => span.name === name) ?? assert.fail(`no ${name}`);
  const [request, run, call] = [named("POST /"), named("agui.run"), named("kernel SendStreamingMessage")];
  const fetched = spans.find(({ parentSpanId }) => parentSpanId === call.spanId) ?? assert.fail("no span of fetch");
  assert.deepEqual([request.parentSpanId, run.parentSpanId, call.parentSpanId], [
    PARENT.span,
    request.spanId,
    run.spanId,
  ]);
  const [got] = kernel.got("SendStreamingMessage");
  assert.equal(got?.headers.get("traceparent"), `00-${PARENT.trace}-${fetched.spanId}-01`);

  assert.ok(
    run.ended > request.ended,
    "the run's span outlives that of the request, which ends with the response's head",
  );
  assert.ok(call.ended > fetched.ended && call.ended <= run.ended);
  const line = service.lines.find(({ message }) => message === "run");
  assert.equal(line?.trace, PARENT.trace, "the log line names the trace");
  const { "agui.run.first_event_ms": firstMs, ...rest } = run.attributes;
  assert.equal(firstMs, line?.firstMs);
  assert.deepEqual(rest, {
    "agui.run.kind": "new",
    "agui.thread": contextIdOf("thread"),
    "agui.execution": line?.execution,
    "agui.task": got?.task.id,
    "agui.run.end": "success",
    "agui.run.events": events.length,
    "agui.run.retries": 0,
  });
  assert.equal(request.attributes["http.route"], "/");
});

Deno.test("a task that is cancelled after its run belongs to the run's trace; a failed run's span is an error", async () => {
  await using kernel = startStandIn();
  await using receiver = startReceiver();
  await using service = await startTraced(kernel.url, receiver);
  kernel.turn(sayAndHold("words "), (call) => call.answer(500, "text/plain", "broken"));
  const left = await readEvents(
    await post(service, runInput(service.cwd, "left", "run-1"), { traceparent: TRACEPARENT }),
  );
  await left.until("TEXT_MESSAGE_CONTENT");
  await left.leave();
  await kernel.called("CancelTask");
  await runThrough(service, runInput(service.cwd, "broken", "run-2"));
  await service.stop();

  const spans = receiver.spans();
  const [gone, broken] = ["gone", undefined].map((by) =>
    spans.find(({ name, attributes }) => name === "agui.run" && attributes["agui.run.stopped_by"] === by)
  );
  const cancel = spans.find(({ name }) => name === "kernel CancelTask");
  assert.deepEqual([cancel?.traceId, cancel?.parentSpanId], [PARENT.trace, gone?.spanId]);
  assert.deepEqual([gone?.attributes["agui.run.end"], gone?.status], ["CANCELLED", 0]);
  assert.deepEqual([broken?.attributes["agui.run.end"], broken?.status], ["A2A_UNAVAILABLE", 2]);
  const call = spans.find(({ parentSpanId }) => parentSpanId === broken?.spanId);
  assert.deepEqual([call?.attributes["error.type"], call?.status], ["status 500", 2]);
});

Deno.test("metrics count runs by their end, events, retries, refusals, and the time of the disk", async () => {
  await using kernel = startStandIn();
  await using receiver = startReceiver();
  await using service = await startTraced(kernel.url, receiver);
  kernel.turn(say("Hello."), refuseOnce, askPermission(), afterPermission());
  const answer = { interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } };
  const readers = [
    await runThrough(service, runInput(service.cwd, "one", "run-1")),
    await runThrough(service, runInput(service.cwd, "two", "run-2")),
    await runThrough(service, runInput(service.cwd, "two", "run-3", { resume: [answer] })),
  ];
  const refused = await post(service, runInput(service.cwd, "two", "run-3", { resume: [answer] }));
  assert.equal(refused.status, 409);
  await refused.body?.cancel();
  await service.stop();

  const by = (metric: string, ...names: string[]) =>
    receiver.points(metric).map(({ attributes, value }) => [...names.map((name) => attributes[name]), value]).sort();
  const ends = [["new", "interrupt", 1], ["new", "success", 1], ["resume", "success", 1]];
  assert.deepEqual(by("agui.runs", "agui.run.kind", "agui.run.end"), ends);
  assert.deepEqual(by("agui.run.duration", "agui.run.kind", "agui.run.end"), ends);
  assert.deepEqual(by("agui.runs.active", "agui.run.kind"), [["new", 0], ["resume", 0]]);
  assert.deepEqual(by("agui.run.first_event", "agui.run.kind"), [["new", 2], ["resume", 1]]);
  const [first, second, third] = readers.map(({ events }) => events.length);
  assert.deepEqual(by("agui.events", "agui.run.kind"), [["new", (first ?? 0) + (second ?? 0)], ["resume", third]]);
  assert.deepEqual(by("agui.kernel.retries", "agui.retry.cause"), [["winding_down", 1]]);
  assert.deepEqual(by("agui.refusals", "agui.code"), [["DUPLICATE_RUN_ID", 1]]);
  const waited = receiver.points("agui.run.first_event").find(({ attributes }) =>
    attributes["agui.run.kind"] === "new"
  );
  assert.ok((waited?.sum ?? 0) > 0.25, "a kernel that was waited for shows in the time to the first event, in seconds");
  const disk = receiver.points("agui.state.duration");
  assert.deepEqual(disk.map(({ attributes }) => attributes["agui.failed"]), [false, false]);
  assert.ok(disk.every(({ value, sum }) => value >= 3 && sum > 0 && sum < 10));
});

Deno.test("the table of metrics in the documents is complete", async () => {
  await using kernel = startStandIn();
  await using receiver = startReceiver();
  await using service = await startTraced(kernel.url, receiver);
  kernel.turn(refuseOnce);
  await runThrough(service, runInput(service.cwd, "one", "run-1"));
  await (await post(service, {})).body?.cancel();
  await service.stop();
  const text = await Deno.readTextFile(new URL("../docs/observability.md", import.meta.url));
  const table = [...text.matchAll(/^\| `(agui\.[\w.]+)` \| `([^`]+)` \|/gm)].map(([, name, unit]) => [name, unit]);
  const exported = [...receiver.metrics("iac-code-agui")].map(([name, { unit }]) => [name, unit]);
  assert.deepEqual(table.sort(), exported.sort());
});

// Secrets and content.

/** Differs from itself in every spelling: it has to be escaped in a URL, in JSON and in base64. */
const mark = (name: string) => `Mark-${name}/"ü&=?\\+€-end`;

/** A text as it may appear in JSON, in a URL, and in base64 wherever it begins within three bytes. */
function spellings(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const base64 = [0, 1, 2].flatMap((shift) => {
    const shifted = new Uint8Array(shift + bytes.length);
    shifted.set(bytes, shift);
    return [shifted.toBase64(), shifted.toBase64({ alphabet: "base64url" })].map((text) => text.slice(shift + 1, -6));
  });
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), encodeURI(secret), ...base64];
}

Deno.test("no key, token or conversation text is in the log or in what is exported", async () => {
  await using kernel = startStandIn();
  await using receiver = startReceiver();
  const tokens = {
    IAC_CODE_AGUI_A2A_TOKEN: "Mark-kernel-token-0123456789",
    IAC_CODE_AGUI_AUTH_TOKEN: "Mark-client-token-0123",
  };
  await using service = await startTraced(kernel.url, receiver, tokens);
  const headers = { authorization: `Bearer ${tokens.IAC_CODE_AGUI_AUTH_TOKEN}` };
  const secrets = ["llm", "header", "id", "secret", "sts"].map(mark);
  const [llmApiKey = "", header = "", accessKeyId = "", accessKeySecret = "", securityToken = ""] = secrets;
  const iacCode = {
    llmApiKey,
    llmHeaders: { "x-key": header },
    alibabaCloud: { accessKeyId, accessKeySecret, securityToken },
  };
  const said = [mark("said"), mark("heard"), mark("asked"), mark("reason"), mark("answer")];
  const [text = "", heard = "", asked = "", reason = "", answer = ""] = said;
  const input = (thread: string, run: string, resume?: JsonObject[]) =>
    runInput(service.cwd, thread, run, { iacCode, text, ...(resume && { resume }) });
  kernel.turn(
    say(heard),
    (call) => call.send(...call.task.begin(), call.task.milestone("FAILED", `${reason} ${secrets.join(" ")}`)),
    async (call) => {
      const question = { schemaVersion: 1, kind: "ask_user_question", required: true, inputId: "q", prompt: asked };
      await call.send(...call.task.begin(), call.task.working({ input: { ...question, requestTaskId: call.task.id } }));
      await call.gone;
    },
    (call) => call.send(call.task.text(heard), ...call.task.finish(heard)),
    (call) => call.raw(`data: ${heard}\r\n\r\n`),
    (call) => call.answer(500, "text/plain", heard),
  );
  const runs = [
    await runThrough(service, input("said", "run-1"), headers),
    await runThrough(service, input("failed", "run-2"), headers),
    await runThrough(service, input("asked", "run-3"), headers),
    await runThrough(
      service,
      input("asked", "run-4", [{ interruptId: "q", status: "resolved", payload: { freeText: answer } }]),
      headers,
    ),
    await runThrough(service, input("invalid", "run-5"), headers),
    await runThrough(service, input("away", "run-6"), headers),
  ];
  const wrong = await post(service, { ...input("wrong", "run-7"), tools: [text] }, headers);
  const denied = await post(service, input("denied", "run-8"), {
    authorization: `Bearer ${llmApiKey.replace(/[^\w]/g, "")}`,
  });
  assert.deepEqual([wrong.status, denied.status], [400, 401]);
  await Promise.all([wrong.body?.cancel(), denied.body?.cancel()]);
  await service.stop();

  const ends = runs.map(({ events }) => events.at(-1)).map((event) => event?.code ?? "finished");
  assert.deepEqual(ends, [
    "finished",
    "A2A_EXECUTION_FAILED",
    "finished",
    "finished",
    "A2A_PROTOCOL_ERROR",
    "A2A_UNAVAILABLE",
  ]);
  assert.match(
    JSON.stringify(kernel.calls.map(({ message }) => message)),
    /Mark-secret.*Mark-answer/,
    "the kernel has them",
  );
  const told = `${service.output()}\n${receiver.bodies.join("\n")}`;
  assert.ok(told.includes("agui.run") && service.lines.length > 6, "there is something to look at");
  for (const secret of [...secrets, ...said, ...Object.values(tokens)]) {
    for (const spelling of spellings(secret)) assert.ok(!told.includes(spelling), `${secret} as ${spelling}`);
  }
  assert.doesNotMatch(told, /Mark/);
});
