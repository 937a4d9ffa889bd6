/** Builds the service from its settings: edges, then the app over them. */
import { type App, createApp } from "./app.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { Settings } from "./config/settings.ts";
import { type WatchedStore, watchStore } from "./idle.ts";
import { createAftermath } from "./kernel/aftermath.ts";
import { createParked } from "./kernel/parked.ts";
import { connectKernel } from "./kernel/client.ts";
import { BODY_MS, CLIENT_STALLED_MS } from "./limits.ts";
import type { Log } from "./log.ts";
import { isLoopback } from "./loopback.ts";
import { openRoots } from "./request/workspace.ts";
import type { Services } from "./run/context.ts";
import { loadTelemetry } from "./telemetry.ts";
import type { FileSystem } from "./store/atomic_file.ts";
import { olderFolderOf, threadFiles } from "./store/thread_files.ts";
import { createRegistry } from "./thread/registry.ts";
import { PROTOCOL_VERSION, VERSION } from "./version.ts";

export interface Service {
  readonly app: App;
  readonly services: Services;
  readonly store: WatchedStore;
}

/** What a test may put in the place of the real thing. */
export interface Edges {
  readonly clock?: Clock;
  readonly fs?: FileSystem;
  /** How long a client may take nothing, in ms. */
  readonly stalledMs?: number;
  /** How long a body may take to arrive, in ms. */
  readonly bodyMs?: number;
}

/** A service on a kernel's URL; `folder` holds the thread files. */
export async function createService(
  settings: Settings,
  kernelAt: { url: string; token: string | undefined },
  folder: string,
  log: Log,
  { clock = systemClock, fs, stalledMs = CLIENT_STALLED_MS, bodyMs = BODY_MS }: Edges = {},
): Promise<Service> {
  const { interruptTtlMs, heartbeatMs } = settings;
  const telemetry = await loadTelemetry();
  const connected = connectKernel({ url: new URL(kernelAt.url), token: kernelAt.token, clock });
  const files = threadFiles({
    folder,
    olderFolder: olderFolderOf(folder),
    fallbackExpiry: () => interruptTtlMs === 0 ? null : clock.now() + interruptTtlMs,
    ...(fs && { fs }),
  });
  const store = watchStore(telemetry?.store(files) ?? files, clock);
  const kernel = telemetry?.kernel(connected) ?? connected;
  const services: Services = {
    kernel,
    registry: createRegistry(store),
    aftermath: createAftermath(kernel, clock, log, telemetry),
    parked: createParked(),
    clock,
    log,
    ...(telemetry && { telemetry }),
    runs: new Set(),
    interruptTtlMs,
    heartbeatMs,
    stalledMs,
    stopping: false,
    instance: clock.newId().slice(0, 8),
    secrets: [kernelAt.token, settings.authToken].filter((token) => token !== undefined),
  };
  const access = {
    loopback: isLoopback(settings.host),
    token: settings.authToken,
    hosts: settings.hosts,
    origins: settings.origins,
    console: settings.console,
  };
  const roots = await openRoots(settings.roots);
  const app = createApp({ access, roots, bodyMs, version: VERSION, protocolVersion: PROTOCOL_VERSION }, services);
  return { app, services, store };
}
