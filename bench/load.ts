/**
 * The clients, as a program of its own: each line of its input is a job, each line of its output that job's result. It
 * counts records and looks for times; it parses no event, so that it is not what is measured.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { quantile } from "./figures.ts";
import type { Script } from "./wire.ts";

/** Streams side by side. */
export interface StreamsJob {
  readonly job: "streams";
  readonly url: string;
  readonly cwd: string;
  readonly streams: number;
  /** The streams begin evenly over this time, in ms. */
  readonly overMs: number;
  readonly script: Script;
}

export interface StreamsResult {
  /** From the first request to the last byte, in ms. */
  readonly ms: number;
  readonly records: number;
  /** Latency from the stand-in's write to this program's read, of every delta that carries its time, in ms. */
  readonly latency: { readonly p50: number; readonly p99: number };
  /** From a request to the first byte of its answer's body, in ms. */
  readonly firstByte: { readonly p50: number; readonly p99: number };
}

/** Turns one after the other: in one thread, or each in a thread of its own. */
export interface TurnsJob {
  readonly job: "turns";
  readonly url: string;
  readonly cwd: string;
  readonly turns: number;
  readonly threads: "one" | "each";
  /** How many are under way at once. */
  readonly side: number;
  readonly script: Script;
}

export interface TurnsResult {
  /** Of each turn in its order, in ms. */
  readonly turns: readonly number[];
}

export type Job = StreamsJob | TurnsJob;

const LF = 10;
const TAIL_BYTES = 4096;
const CHUNK_BYTES = 65_536;
const latin = new TextDecoder("latin1");
const SENT_AT = /@(\d+\.\d+)@/g;

interface Stream {
  records: number;
  firstByteMs: number;
  readonly latencies: number[];
}

/** Runs one turn to its end. Throws when it did not end well. */
async function run(url: string, cwd: string, threadId: string, script: Script): Promise<Stream> {
  const began = performance.now();
  const response = await fetch(url, { method: "POST", headers, body: body(threadId, cwd, script) });
  const seen: Stream = { records: 0, firstByteMs: 0, latencies: [] };
  let feeds = 0;
  let tail: Uint8Array = new Uint8Array();
  for await (const chunk of chunksOf(response)) {
    if (seen.firstByteMs === 0) seen.firstByteMs = performance.now() - began;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, at + 1)) feeds++;
    if (script.gapMs > 0) noteTimes(chunk, seen.latencies);
    tail = join(tail.subarray(-TAIL_BYTES), chunk.subarray(-TAIL_BYTES));
  }
  // Every record ends with an empty line.
  seen.records = feeds / 2;
  const end = latin.decode(tail.subarray(-TAIL_BYTES));
  const isGood = end.includes('"RUN_FINISHED"') || end.includes('"TASK_STATE_INPUT_REQUIRED"');
  if (!response.ok || !isGood) throw new Error(`a run failed: ${response.status} ${end.slice(-500)}`);
  return seen;
}

/** The body's chunks, each to be used before the next. All in one buffer: one for each chunk took a third of this program's time. */
async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(CHUNK_BYTES);
  while (true) {
    const read = await reader?.read(new Uint8Array(buffer));
    if (!read?.value || read.done) return;
    yield read.value;
    buffer = read.value.buffer;
  }
}

const headers = { "content-type": "application/json", accept: "text/event-stream" };

function body(threadId: string, cwd: string, script: Script): string {
  return JSON.stringify({
    threadId,
    runId: crypto.randomUUID(),
    state: {},
    messages: [{ id: crypto.randomUUID(), role: "user", content: JSON.stringify(script) }],
    tools: [],
    context: [],
    forwardedProps: { iacCode: { schemaVersion: 1, rosInvocationId: "bench", cwd, runMode: "normal" } },
  });
}

function noteTimes(chunk: Uint8Array, latencies: number[]): void {
  const now = performance.timeOrigin + performance.now();
  for (const [, sentAt] of latin.decode(chunk).matchAll(SENT_AT)) latencies.push(now - Number(sentAt));
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

async function streams({ url, cwd, streams, overMs, script }: StreamsJob): Promise<StreamsResult> {
  const began = performance.now();
  const ended = await Promise.all(Array.from({ length: streams }, async (_, at) => {
    if (overMs > 0) await new Promise((resolve) => setTimeout(resolve, at * overMs / streams));
    return await run(url, cwd, crypto.randomUUID(), script);
  }));
  const ms = performance.now() - began;
  const latencies = ended.flatMap((stream) => stream.latencies);
  const firstBytes = ended.map(({ firstByteMs }) => firstByteMs);
  return {
    ms,
    records: ended.reduce((sum, { records }) => sum + records, 0),
    latency: { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) },
    firstByte: { p50: quantile(firstBytes, 0.5), p99: quantile(firstBytes, 0.99) },
  };
}

async function turns({ url, cwd, turns, threads, side, script }: TurnsJob): Promise<TurnsResult> {
  const thread = crypto.randomUUID();
  const times: number[] = [];
  let next = 0;
  await Promise.all(Array.from({ length: side }, async () => {
    while (next < turns) {
      const at = next++;
      const began = performance.now();
      await run(url, cwd, threads === "one" ? thread : crypto.randomUUID(), script);
      times[at] = performance.now() - began;
    }
  }));
  return { turns: times };
}

for await (const line of createInterface({ input: process.stdin })) {
  const job: Job = JSON.parse(line);
  const result = job.job === "streams" ? await streams(job) : await turns(job);
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(result)}\n`));
}
