/** docs/observability.md, "Log lines". */
import assert from "node:assert/strict";
import { LOG_LINES_WAITING, LOG_REPEATS } from "../src/limits.ts";
import {
  createLog,
  errorKind,
  errorPlace,
  type Log,
  type LogDestination,
  type LogSettings,
  RUN_LINE,
} from "../src/log.ts";
import { decodeThread } from "../src/store/codec.ts";
import { CorruptThread } from "../src/store/corrupt_thread.ts";
import { runInput, startProcess } from "./support/service_process.ts";
import { startStandIn } from "./support/stand_in_kernel.ts";

/** A destination in memory. */
function memory(options: { isTerminal?: boolean; bytesAtOnce?: number } = {}) {
  const { isTerminal = false, bytesAtOnce = Infinity } = options;
  const decoder = new TextDecoder();
  const state = { text: "", fails: false };
  const to: LogDestination = {
    isTerminal,
    write(bytes) {
      if (state.fails) return Promise.reject(new Deno.errors.BrokenPipe("the reader is gone"));
      const taken = bytes.subarray(0, bytesAtOnce);
      state.text += decoder.decode(taken, { stream: true });
      return Promise.resolve(taken.length);
    },
  };
  return { to, state, lines: () => state.text.split("\n").slice(0, -1) };
}

async function written(
  settings: Omit<LogSettings, "to">,
  to: LogDestination,
  write: (log: Log) => void,
): Promise<void> {
  const log = createLog({ ...settings, to });
  write(log);
  await log.flush();
}

/** What a client may choose as its run id: a line of its own, a terminal's escapes in 7 and 8 bits, and text that runs backwards. */
const NASTY = 'a\n2026-01-01T00:00:00.000Z INF run end=success\r\u001b[2J\u009b31m\u2028\u202e{"level":"error"}\ud800';
const UNPRINTABLE = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\ufffd]/u;

for (const format of ["text", "json"] as const) {
  Deno.test(`${format}: a value that a client chose stays in its line, and cannot reach the terminal`, async () => {
    const { to, state, lines } = memory();
    await written(
      { format, level: "info" },
      to,
      (log) => log.info(`note ${NASTY}`, { run: NASTY, long: "x".repeat(9000) }),
    );
    assert.equal(lines().length, 1);
    assert.doesNotMatch(state.text, UNPRINTABLE);
    assert.ok(state.text.length < 1200, "a value does not go on for pages");
  });
}

Deno.test("json: one object a line, with time, level, message and the fields that have a value", async () => {
  const { to, lines } = memory({ bytesAtOnce: 7 });
  await written({ format: "json", level: "info" }, to, (log) => {
    log.warn("the kernel is unavailable", { thread: "agui-1", task: undefined, ms: 12, ready: false });
    log.error("second");
  });
  const [first, second] = lines().map((line) => JSON.parse(line));
  const { time, ...rest } = first;
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(rest, {
    level: "warning",
    message: "the kernel is unavailable",
    thread: "agui-1",
    ms: 12,
    ready: false,
  });
  assert.equal(second.level, "error");
});

Deno.test("text: date, level, message and fields, a text with spaces in quotes; without colour in a file", async () => {
  const { to, lines } = memory();
  await written(
    { format: "text", level: "info" },
    to,
    (log) => log.info("run", { run: "my run", end: "success", ms: 5 }),
  );
  assert.match(lines()[0] ?? "", /^\d{4}-\d\d-\d\dT[\d:.]+Z INF run run="my run" end=success ms=5$/);
});

Deno.test("text: colour on a terminal, unless NO_COLOR is set", async () => {
  const script = `
    import { createLog } from "${new URL("../src/log.ts", import.meta.url)}";
    const to = { isTerminal: true, write: (bytes) => Deno.stdout.write(bytes) };
    const log = createLog({ format: "text", level: "info", to });
    log.info("hello");
    await log.flush();`;
  const config = new URL("../deno.json", import.meta.url).pathname;
  async function run(env: Record<string, string>): Promise<string> {
    const command = new Deno.Command(Deno.execPath(), { args: ["eval", "--config", config, script], env });
    return new TextDecoder().decode((await command.output()).stdout);
  }
  const [colored, plain] = [await run({ NO_COLOR: "" }), await run({ NO_COLOR: "1" })];
  assert.match(colored, /\p{Cc}\[\d+mINF\p{Cc}/u);
  assert.match(plain, /^\d\d:\d\d:\d\d\.\d{3} INF hello\n$/);
});

Deno.test("debug lines appear only when asked for", async () => {
  const [quiet, chatty] = [memory(), memory()];
  await written({ format: "json", level: "info" }, quiet.to, (log) => log.debug("retry"));
  await written({ format: "json", level: "debug" }, chatty.to, (log) => log.debug("retry"));
  assert.deepEqual([quiet.lines().length, chatty.lines().length], [0, 1]);
});

Deno.test("a destination that fails loses lines, which are counted, and told when it takes lines again", async () => {
  const { to, state, lines } = memory();
  const log = createLog({ format: "json", level: "info", to });
  state.fails = true;
  log.info("lost 1");
  log.error("lost 2");
  await log.flush();
  state.fails = false;
  log.info("back");
  log.info("and on");
  await log.flush();
  const told = lines().map((line) => JSON.parse(line));
  assert.deepEqual(told.map(({ message, lines }) => [message, lines]), [
    ["log lines were lost", 2],
    ["back", undefined],
    ["and on", undefined],
  ]);
});

Deno.test("a line that broke off in the middle does not swallow the next one", async () => {
  const { to, state, lines } = memory({ bytesAtOnce: 10 });
  const breaking: LogDestination = {
    isTerminal: false,
    write: (bytes) => state.text === "" || state.fails ? to.write(bytes) : Promise.reject(new Error("disk full")),
  };
  const log = createLog({ format: "json", level: "info", to: breaking });
  log.info("torn");
  await log.flush();
  const isWhole = { isTerminal: false, write: to.write };
  Object.assign(breaking, isWhole);
  log.info("whole");
  await log.flush();
  const [torn = "", lost = "", whole = ""] = lines();
  assert.throws(() => JSON.parse(torn));
  assert.deepEqual([JSON.parse(lost).lines, JSON.parse(whole).message], [1, "whole"]);
});

Deno.test("a destination that takes nothing holds up nobody; what it does not take is bounded", async () => {
  let taken = "";
  const room = Promise.withResolvers<void>();
  const to: LogDestination = {
    isTerminal: false,
    async write(bytes) {
      await room.promise;
      taken += new TextDecoder().decode(bytes);
      return bytes.length;
    },
  };
  const log = createLog({ format: "json", level: "info", to });
  const count = LOG_LINES_WAITING + 500;
  for (let at = 0; at < count; at++) log.info(RUN_LINE, { at });
  await log.flush();
  assert.equal(taken, "", "flush gives up on it");
  room.resolve();
  log.info(RUN_LINE, { at: "last" });
  await log.flush();
  log.info(RUN_LINE, { at: "after" });
  await log.flush();
  const told = taken.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  const lost = told.filter(({ message }) => message === "log lines were lost").reduce(
    (sum, { lines }) => sum + lines,
    0,
  );
  const whole = told.filter(({ message }) => message === RUN_LINE).length;
  assert.ok(lost >= 400, `${lost} lost`);
  assert.equal(whole + lost, count + 2, "every line was written or counted");
});

Deno.test("a warning that repeats is written a few times a minute, then counted; the line of a run never is", async () => {
  const { to, lines } = memory();
  await written({ format: "json", level: "info" }, to, (log) => {
    for (let at = 0; at < 1000; at++) log.warn("the kernel is unavailable", { at });
    for (let at = 0; at < 100; at++) log.info(RUN_LINE, { at });
    log.warn("something else");
  });
  const told = lines().map((line) => JSON.parse(line));
  const count = (wanted: string) => told.filter(({ message }) => message === wanted).length;
  assert.deepEqual([count("the kernel is unavailable"), count(RUN_LINE), count("something else")], [
    LOG_REPEATS,
    100,
    1,
  ]);
  const { line, lines: leftOut } = told.find(({ message }) => message === "repeated lines were left out") ?? {};
  assert.deepEqual([line, leftOut], ["the kernel is unavailable", 1000 - LOG_REPEATS]);
});

Deno.test("an error is told by its kind, code and place in our sources, never by its text", () => {
  const secret = "sk-secret\n    at leak (/x/src/secret words.ts:1:2)";
  const error = new TypeError(secret);
  assert.equal(errorKind(error), "TypeError");
  assert.equal(errorKind(Object.assign(new Error(secret), { code: "ENOSPC" })), "Error ENOSPC");
  assert.equal(errorKind(new CorruptThread("too large")), "CorruptThread too large");
  assert.equal(errorKind(secret), "string");
  const place = thrownIn(() => decodeThread("{", "thread", null));
  assert.match(errorPlace(place) ?? "", /^src\/store\/codec\.ts:\d+:\d+$/);
  assert.equal(errorPlace(secret), undefined);
});

function thrownIn(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  assert.fail("nothing was thrown");
}

// Standard error as a process has it.

/** More than a pipe and both its ends hold. */
const LINES = 4000;

for (const [what, spoil] of [["closed", "closeErrors"], ["read by nobody", "stopReading"]] as const) {
  Deno.test(`standard error is ${what}: the service goes on`, async () => {
    await using kernel = startStandIn();
    await using service = await startProcess({ kernelUrl: kernel.url, flags: ["--debug"] });
    await service[spoil]();
    for (let at = 0; at < LINES; at++) {
      const refused = await fetch(`${service.url}/nothing`, { signal: AbortSignal.timeout(20_000) });
      await refused.body?.cancel();
    }
    const body = JSON.stringify(runInput(service.cwd, "thread", "run-1"));
    const response = await fetch(service.url, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    assert.match(await response.text(), /"type":"RUN_FINISHED"/);
    assert.equal(await service.stop(), 0);
  });
}
