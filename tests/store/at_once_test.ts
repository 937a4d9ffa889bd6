/** docs/performance.md, "A start of a run is its file calls". */
import assert from "node:assert/strict";
import { AT_ONCE_CALLS, AT_ONCE_FIRST_PAUSE_MS, AT_ONCE_LONGEST_PAUSE_MS } from "../../src/limits.ts";
import { createAtOnce } from "../../src/store/at_once.ts";

/** A clock that a test moves, and calls that take as long as a test says, each told as it was made. */
function disk() {
  let now = 0;
  const atOnce = createAtOnce(() => now);
  return {
    pass: (ms: number) => void (now += ms),
    /** Makes a call that takes `ms` when it is made at once; gives how it was made. */
    call: (ms: number) =>
      atOnce(() => {
        now += ms;
        return "at once";
      }, () => Promise.resolve("elsewhere")),
    /** Calls until one is handed over; gives how many were made at once. */
    async tries(ms: number): Promise<number> {
      let made = 0;
      while (await this.call(ms) === "at once") made++;
      return made;
    },
  };
}

const IN_MEMORY_MS = 0.02;
const DISK_MS = 5;

Deno.test("calls that are quick are made at once", async () => {
  const { call } = disk();
  for (let at = 0; at < 10 * AT_ONCE_CALLS; at++) assert.equal(await call(IN_MEMORY_MS), "at once");
});

Deno.test("a slow disk holds up the thread that serves streams for two calls, then for one at ever longer intervals", async () => {
  const slow = disk();
  assert.equal(await slow.tries(DISK_MS), 2);
  let pauses = 0;
  for (let ms = 2 * AT_ONCE_FIRST_PAUSE_MS; ms <= AT_ONCE_LONGEST_PAUSE_MS; ms *= 2) {
    slow.pass(ms - 1);
    assert.equal(await slow.call(DISK_MS), "elsewhere", `after ${ms - 1} ms`);
    slow.pass(1);
    assert.equal(await slow.tries(DISK_MS), 1, `after ${ms} ms`);
    pauses++;
  }
  assert.ok(pauses > 10);
  slow.pass(AT_ONCE_LONGEST_PAUSE_MS);
  assert.equal(await slow.tries(DISK_MS), 1, "at the latest after an hour");
});

Deno.test("a disk that is a little slow is handed to another thread, too", async () => {
  const made = await disk().tries(0.3);
  assert.ok(made > 2 && made < AT_ONCE_CALLS, `${made} calls`);
});

Deno.test("a disk that was slow for a while is used at once again", async () => {
  const healed = disk();
  await healed.tries(DISK_MS);
  healed.pass(2 * AT_ONCE_FIRST_PAUSE_MS);
  for (let at = 0; at < 10 * AT_ONCE_CALLS; at++) assert.equal(await healed.call(IN_MEMORY_MS), "at once");
});

Deno.test("a process that had to wait for its processor now and then does not take memory for a disk", async () => {
  const { call } = disk();
  for (let at = 0; at < 20 * AT_ONCE_CALLS; at++) {
    assert.equal(await call(at % 100 === 99 ? 3 : IN_MEMORY_MS), "at once", `call ${at}`);
  }
});

Deno.test("a call that fails rejects, however it is made", async () => {
  let now = 0;
  const atOnce = createAtOnce(() => now);
  const fail = (ms: number) =>
    atOnce((): never => {
      now += ms;
      throw new Error("at once");
    }, () => Promise.reject(new Error("elsewhere")));
  await assert.rejects(fail(100), /at once/);
  await assert.rejects(fail(100), /elsewhere/);
});
