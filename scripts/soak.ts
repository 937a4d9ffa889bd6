/**
 * Runs the service for minutes under load on the demo kernel, with clients that leave, read slowly or not at all, and with
 * real interrupts, and watches its memory and open files (docs/reliability.md).
 *
 *   deno run -A scripts/soak.ts [--minutes 30] [--streams 50] [--seed 1] [--pace 0.2]
 *
 * `--pace`: how fast the kernel speaks; 1 as for people, 0 as fast as it can. Exit code 1 when memory or files grow after
 * the warm-up (the first third), when a run ends in an unexpected way, or when the service complains.
 */
import { parseArgs } from "node:util";
import { startDemoKernel } from "../demo/kernel.ts";
import { type Random, seeded } from "../tests/support/random.ts";
import { type ServiceProcess, startService } from "./service_process.ts";
import { type Conversation, type End, type Manner, newConversation, sleep, takeTurn, type Target } from "./traffic.ts";

const MIB = 1024 * 1024;
const SAMPLE_MS = 2_000;
/** Turns after which a client goes on with a new thread. */
const TURNS = 8;
/** What a garbage collector may leave standing between two looks. */
const GROWTH_BYTES = 24 * MIB;
/** In the first minutes, what is compiled and cached grows, too. */
const EARLY_GROWTH_BYTES = 64 * MIB;
const EARLY_MINUTES = 10;
const SETTLE_MS = 15_000;
/** Ends that this traffic is to have; `broken` is none of them. */
const EXPECTED = [
  "success",
  "interrupt",
  "left",
  "CANCELLED",
  "A2A_UNAVAILABLE",
  "A2A_EXECUTION_FAILED",
  "EXECUTION_LOST",
  // Who left while an answer was on its way asks again.
  "RESUME_ALREADY_APPLIED",
  "UNKNOWN_INTERRUPT",
  "INCOMPLETE_RESUME",
  "409 RESUME_REQUIRED",
  "409 THREAD_BUSY",
  "409 EXECUTION_LOST",
];

interface Sample {
  readonly atMs: number;
  readonly rssBytes: number;
  readonly files: number;
  readonly healthMs: number;
}

const options = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    streams: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
    pace: { type: "string", default: "0.2" },
  },
}).values;

const problems = await soak(
  Number(options.minutes),
  Number(options.streams),
  Number(options.seed),
  Number(options.pace),
);
for (const problem of problems) say(`FAILED: ${problem}`);
say(problems.length === 0 ? "soak passed" : `${problems.length} problems`);
Deno.exit(problems.length === 0 ? 0 : 1);

async function soak(minutes: number, streams: number, seed: number, pace: number): Promise<string[]> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-soak-" }));
  const kernel = startDemoKernel({ pace });
  const service = await startService({ kernel, stateDir: `${root}/state`, cwd: root });
  try {
    const ends = new Map<End, number>();
    const target = { url: service.url, cwd: root, client: Deno.createHttpClient({}) };
    await warmUp(target);
    const before = await service.look();
    say(
      `base line: ${mib(before?.rssBytes)} MiB, ${before?.files} files; seed ${seed}, ${streams} streams, pace ${pace}`,
    );
    const until = performance.now() + minutes * 60_000;
    const clients = Array.from({ length: streams }, (_, at) => client(target, seeded(seed + at), at, until, ends));
    const samples = await watch(service, target.client, until);
    await Promise.all(clients);
    target.client.close();
    await sleep(SETTLE_MS);
    const after = await service.look();
    say(`at rest: ${mib(after?.rssBytes)} MiB, ${after?.files} files`);
    const exit = await service.end("SIGTERM");
    return [
      ...growth(samples, minutes < EARLY_MINUTES ? EARLY_GROWTH_BYTES : GROWTH_BYTES),
      ...(after && before && after.files > before.files ? [`${after.files - before.files} files are left open`] : []),
      ...(exit === 0 ? [] : [`exit ${exit}`]),
      ...unexpected(ends),
      ...complaints(service),
    ];
  } finally {
    await service.end("SIGKILL");
    await kernel.close();
    await Deno.remove(root, { recursive: true });
  }
}

/** Loads what is loaded with the first runs, so that the base line is one; its connection is closed again. */
async function warmUp(target: Target): Promise<void> {
  const client = Deno.createHttpClient({});
  for (let run = 0; run < 5; run++) {
    await takeTurn({ ...target, client }, newConversation(`warm-${run}`), seeded(run), "stays");
  }
  client.close();
  await sleep(SETTLE_MS);
}

/** One client after the other, until the time is over. */
async function client(
  target: Target,
  random: Random,
  at: number,
  until: number,
  ends: Map<End, number>,
): Promise<void> {
  let conversation: Conversation | undefined;
  for (let number = 0; performance.now() < until;) {
    if (!conversation || conversation.runs >= TURNS) conversation = newConversation(`soak-${at}-${number++}`);
    const { end } = await takeTurn(target, conversation, random, manner(random));
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
}

function manner(random: Random): Manner {
  const chance = random.next();
  if (chance < 0.2) return "leaves";
  if (chance < 0.3) return "reads slowly";
  return chance < 0.35 ? "reads nothing" : "stays";
}

async function watch(service: ServiceProcess, client: Deno.HttpClient, until: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const began = performance.now();
  let told = began;
  while (performance.now() < until) {
    await sleep(SAMPLE_MS);
    const asked = performance.now();
    await (await fetch(`${service.url}/health`, { client })).body?.cancel();
    const found = await service.look();
    if (!found) throw new Error(`the service died: ${service.output().slice(-2_000)}`);
    samples.push({ ...found, atMs: asked - began, healthMs: performance.now() - asked });
    if (asked - told < 30_000) continue;
    told = asked;
    const { rssBytes, files, healthMs } = samples.at(-1) ?? { rssBytes: 0, files: 0, healthMs: 0 };
    say(
      `${Math.round((asked - began) / 1000)} s: ${mib(rssBytes)} MiB, ${files} files, health in ${
        healthMs.toFixed(0)
      } ms`,
    );
  }
  return samples;
}

/** Compares the middle third with the last one. */
function growth(samples: readonly Sample[], mostBytes: number): string[] {
  const third = Math.floor(samples.length / 3);
  const [warm, late] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  const rss = [warm, late].map((part) => median(part.map(({ rssBytes }) => rssBytes)));
  const files = [warm, late].map((part) => median(part.map(({ files }) => files)));
  const health = samples.map(({ healthMs }) => healthMs).sort((a, b) => a - b);
  const [warmRss = 0, lateRss = 0] = rss;
  const [warmFiles = 0, lateFiles = 0] = files;
  say(
    `memory: median ${mib(warmRss)} MiB in the middle third, ${mib(lateRss)} MiB in the last; peak ${
      mib(Math.max(...samples.map(({ rssBytes }) => rssBytes)))
    } MiB`,
  );
  say(
    `files: median ${warmFiles} and ${lateFiles}; health: median ${median(health).toFixed(1)} ms, p99 ${
      (health[Math.floor(health.length * 0.99)] ?? 0).toFixed(1)
    } ms`,
  );
  return [
    ...(lateRss > warmRss + mostBytes ? [`memory grew from ${mib(warmRss)} to ${mib(lateRss)} MiB`] : []),
    ...(lateFiles > warmFiles * 1.25 + 5 ? [`open files grew from ${warmFiles} to ${lateFiles}`] : []),
  ];
}

function unexpected(ends: ReadonlyMap<End, number>): string[] {
  const total = [...ends.values()].reduce((sum, count) => sum + count, 0);
  const sorted = [...ends].sort(([, a], [, b]) => b - a);
  say(`${total} runs: ${sorted.map(([end, count]) => `${count} ${end}`).join(", ")}`);
  const strange = sorted.filter(([end]) => !EXPECTED.includes(end));
  return strange.map(([end, count]) => `${count} runs ended with ${end}`);
}

/** What the service has logged as an error, or said on its way out. */
function complaints(service: ServiceProcess): string[] {
  const bad = service.output().split("\n").filter((line) => /\bERR\b|Uncaught|panicked/.test(line));
  return bad.slice(0, 5).map((line) => `logged: ${line}`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function mib(bytes = 0): string {
  return (bytes / MIB).toFixed(0);
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
