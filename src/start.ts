/** Settings → a service that listens: state, kernel, app, server, in this order, and back when it stops. */
import { hostPort, missing, needsOf } from "./config/permissions.ts";
import type { Settings } from "./config/settings.ts";
import { untilIdle } from "./idle.ts";
import { openKernel } from "./kernel/open.ts";
import { errorKind, type Log } from "./log.ts";
import { serve, type Server } from "./server.ts";
import { createService, type Service } from "./service.ts";
import { EXIT, StartFailure } from "./start_failure.ts";
import { lockState, type StateLock } from "./store/lock.ts";
import { makeStateDirectory } from "./store/state_directory.ts";
import { olderFolderOf, removeTempFiles } from "./store/thread_files.ts";
import { VERSION } from "./version.ts";

/** A service that listens. */
export interface Started {
  /** Where it listens. */
  readonly url: string;
  /** Resolves when it was idle for as long as the settings allow; never when they set no limit. */
  readonly idle: Promise<void>;
  /** Ends every run, the server and a kernel of its own; frees the state directory. Resolves within 20 s. */
  stop(): Promise<void>;
}

/** Starts a service. Throws StartFailure; then nothing of it is left. The signal gives the start up. */
export async function startService(settings: Settings, log: Log, signal?: AbortSignal): Promise<Started> {
  const refused = missing(needsOf(settings));
  if (refused.length > 0) throw new StartFailure(refused);
  const undo: (() => Promise<void> | void)[] = [];
  try {
    const { folder, lock } = await openState(settings.stateDir);
    undo.push(() => lock.release());
    const kernel = await openKernel(settings, log, signal);
    undo.push(() => kernel.close());
    const service = await createService(settings, kernel, folder, log);
    undo.push(() => service.services.kernel.close());
    const server = listen(settings, service);
    return started(settings, log, service, server, undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

function started(
  settings: Settings,
  log: Log,
  { services, store }: Service,
  server: Server,
  undo: readonly (() => Promise<void> | void)[],
): Started {
  const url = `http://${hostPort(settings.host, server.port)}`;
  log.info("listening", { url, version: VERSION });
  const stopping = new AbortController();
  const never = Promise.withResolvers<void>();
  const idle = settings.idleShutdownMs === 0
    ? never.promise
    : untilIdle(services, store, settings.idleShutdownMs, stopping.signal)
      .then((isIdle) => isIdle ? log.info("idle") : never.promise);
  return {
    url,
    idle,
    async stop() {
      log.info("stopping", { runs: services.runs.size });
      stopping.abort();
      await server.stop();
      for (const step of undo.toReversed()) await step();
    },
  };
}

function listen(settings: Settings, { app, services }: Service): Server {
  const { host, port } = settings;
  try {
    return serve(app, services, settings);
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) {
      throw refused(`Address already in use: ${hostPort(host, port)}. Choose another port with --port.`, error);
    }
    throw refused(`Cannot listen on ${hostPort(host, port)} (${errorKind(error)}). See --host and --port.`, error);
  }
}

async function openState(stateDir: string): Promise<{ folder: string; lock: StateLock }> {
  let lock: StateLock | undefined;
  try {
    const folder = await makeStateDirectory(stateDir);
    lock = await lockState(stateDir);
    if (!lock) {
      throw new StartFailure([
        `Another process uses the state directory ${stateDir}. Name another one with --state-dir.`,
      ]);
    }
    await removeTempFiles(folder);
    await removeTempFiles(olderFolderOf(folder));
    return { folder, lock };
  } catch (error) {
    lock?.release();
    if (error instanceof StartFailure) throw error;
    const why = `The state directory ${stateDir} cannot be written (${errorKind(error)}).`;
    throw refused(`${why} Name another one with --state-dir.`, error);
  }
}

function refused(line: string, cause?: unknown): StartFailure {
  return new StartFailure([line], EXIT.refused, { cause });
}
