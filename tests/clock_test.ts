import assert from "node:assert/strict";
import { systemClock } from "../src/clock.ts";

Deno.test("the time is that of the machine, in ms", () => {
  const before = Date.now();
  const now = systemClock.now();
  assert.ok(Number.isInteger(now) && before <= now && now <= Date.now());
});

Deno.test("elapsed time only grows, by as much as a sleep takes", async () => {
  const before = systemClock.elapsed();
  await systemClock.sleep(20);
  const slept = systemClock.elapsed() - before;
  assert.ok(slept >= 19, `${slept} ms`);
});

Deno.test("each id is a new UUID", () => {
  const ids = new Set(Array.from({ length: 100 }, systemClock.newId));
  assert.equal(ids.size, 100);
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

Deno.test("an abort ends a sleep at once and leaves no timer and no listener", async () => {
  const abort = new AbortController();
  const counted = countListeners(abort.signal);
  const sleeping = systemClock.sleep(60_000, abort.signal);
  assert.equal(counted.size, 1);
  abort.abort();
  // A timer that is left fails this test through the sanitizer.
  await sleeping;
  assert.equal(counted.size, 0);
  await systemClock.sleep(60_000, abort.signal);
  assert.equal(counted.size, 0);
});

Deno.test("a sleep that is over leaves no listener behind", async () => {
  const abort = new AbortController();
  const counted = countListeners(abort.signal);
  for (let at = 0; at < 10; at++) await systemClock.sleep(0, abort.signal);
  assert.equal(counted.size, 0);
});

/** The listeners that a signal has at the moment. */
function countListeners(signal: AbortSignal): ReadonlySet<unknown> {
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    listeners.add(listener);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    if (type === "abort") listeners.delete(listener);
    remove(type, listener);
  };
  return listeners;
}
