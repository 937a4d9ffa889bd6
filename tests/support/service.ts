/** The service without sockets and without a disk: its app over a kernel and a clock that a test brings along. */
import { clearImmediate, setImmediate } from "node:timers";
import { type App, createApp } from "../../src/app.ts";
import type { Clock } from "../../src/clock.ts";
import { createAftermath } from "../../src/kernel/aftermath.ts";
import { createParked } from "../../src/kernel/parked.ts";
import type { Kernel } from "../../src/kernel/client.ts";
import type { JsonObject } from "../../src/json.ts";
import { type Log, silentLog } from "../../src/log.ts";
import type { Services } from "../../src/run/context.ts";
import { decodeThread, encodeThread } from "../../src/store/codec.ts";
import { createRegistry, type ThreadStore } from "../../src/thread/registry.ts";
import { readEvents } from "./run_reader.ts";
import type { StrictThread } from "./strict_stream.ts";

export interface AppService {
  readonly app: App;
  readonly services: Services;
  /** What was logged as an error. */
  readonly errors: readonly string[];
  /** All events of a run, which pass the strict check of its thread. */
  run(body: JsonObject, strict: StrictThread): Promise<JsonObject[]>;
}

/** A service whose workspaces lie under `root`. */
export function serviceOn(kernel: Kernel, clock: Clock, root: string): AppService {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (message) => void errors.push(message) };
  const services: Services = {
    kernel,
    registry: createRegistry(memoryStore()),
    aftermath: createAftermath(kernel, clock, log),
    parked: createParked(),
    clock,
    log,
    runs: new Set(),
    interruptTtlMs: 0,
    heartbeatMs: 60_000,
    stalledMs: 60_000,
    stopping: false,
    instance: "instance",
    secrets: [],
  };
  const access = { loopback: true, token: undefined, hosts: [], origins: [], console: false };
  const roots = () => Promise.resolve([root]);
  const settings = { access, roots, bodyMs: 60_000, version: "test", protocolVersion: "test" };
  const app = createApp(settings, services);
  return {
    app,
    services,
    errors,
    async run(body, strict) {
      const headers = { "content-type": "application/json" };
      const request = new Request("http://127.0.0.1/", { method: "POST", headers, body: JSON.stringify(body) });
      const reader = await readEvents(await app(request), strict);
      await reader.last();
      return reader.events;
    },
  };
}

/** Keeps threads as the text of their files. */
function memoryStore(): ThreadStore {
  const files = new Map<string, string>();
  return {
    load(threadId) {
      const file = files.get(threadId);
      return Promise.resolve(file === undefined ? undefined : decodeThread(file, threadId, null));
    },
    save(thread) {
      files.set(thread.threadId, encodeThread(thread));
      return Promise.resolve();
    },
  };
}

/** A clock on which every wait is over as soon as nothing else is left to do. */
export function instantClock(): Clock {
  let elapsed = 0;
  let ids = 0;
  return {
    now: () => Date.now() + elapsed,
    elapsed: () => elapsed,
    newId: () => `execution-${++ids}`,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setImmediate(() => {
        elapsed += ms;
        resolve();
      });
      signal?.addEventListener("abort", () => {
        clearImmediate(timer);
        resolve();
      });
      return promise;
    },
  };
}
