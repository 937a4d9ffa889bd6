/** Builds the service from its settings: edges, then the app over them. */
import { type App, createApp } from "./app.ts";
import { systemClock } from "./clock.ts";
import type { Settings } from "./config/settings.ts";
import { watchStore, type WatchedStore } from "./idle.ts";
import { createAftermath } from "./kernel/aftermath.ts";
import { connectKernel } from "./kernel/client.ts";
import type { Log } from "./log.ts";
import { isLoopback } from "./loopback.ts";
import { resolveRoots } from "./request/workspace.ts";
import type { Services } from "./run/context.ts";
import { loadTelemetry } from "./telemetry.ts";
import { threadFiles } from "./store/thread_files.ts";
import { createRegistry } from "./thread/registry.ts";
import { PROTOCOL_VERSION, VERSION } from "./version.ts";

export interface Service {
  readonly app: App;
  readonly services: Services;
  readonly store: WatchedStore;
}

/** A service on a kernel's URL; `folder` holds the thread files. */
export async function createService(
  settings: Settings,
  kernelAt: { url: string; token: string | undefined },
  folder: string,
  log: Log,
): Promise<Service> {
  const { interruptTtlMs, heartbeatMs } = settings;
  const clock = systemClock;
  const telemetry = await loadTelemetry();
  const connected = connectKernel({ url: new URL(kernelAt.url), token: kernelAt.token });
  const files = threadFiles({
    folder,
    fallbackExpiry: () => interruptTtlMs === 0 ? null : clock.now() + interruptTtlMs,
  });
  const store = watchStore(telemetry?.store(files) ?? files, clock);
  const kernel = telemetry?.kernel(connected) ?? connected;
  const services: Services = {
    kernel,
    registry: createRegistry(store),
    aftermath: createAftermath(kernel, clock, log, telemetry),
    clock,
    log,
    ...(telemetry && { telemetry }),
    runs: new Set(),
    interruptTtlMs,
    heartbeatMs,
  };
  const access = {
    loopback: isLoopback(settings.host),
    token: settings.authToken,
    hosts: settings.hosts,
    origins: settings.origins,
    console: false,
  };
  const roots = await resolveRoots(settings.roots);
  const app = createApp({ access, roots, version: VERSION, protocolVersion: PROTOCOL_VERSION }, services);
  return { app, services, store };
}
