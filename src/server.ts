/** Listens, and stops in bounded time: no new requests, active runs ended, the aftermath waited for (docs/operators.md). */
import type { App } from "./app.ts";
import { LISTEN_AGAIN_MS, SHUTDOWN_MS } from "./limits.ts";
import { errorKind } from "./log.ts";
import type { Services } from "./run/context.ts";

export interface Server {
  readonly port: number;
  /**
   * Accepts nothing more, ends every run and cancels their tasks; resolves within 10 s. Only the connection of a client that
   * reads nothing may be left then, which Deno offers no way to close.
   */
  stop(): Promise<void>;
}

/** Serves an app. Rejects when the address cannot be listened on. */
export function serve(app: App, services: Services, { host, port }: { host: string; port: number }): Server {
  const listener = keepListening(app, services, host, port);
  return {
    port: listener.port,
    async stop() {
      services.stopping = true;
      const late = new AbortController();
      const ended = (async () => {
        // Resolves when the last response is out.
        const closed = listener.close();
        await Promise.all([...services.runs].map((run) => run.stop("shutdown")));
        await Promise.all([closed, services.aftermath.settled()]);
      })();
      await Promise.race([ended, services.clock.sleep(SHUTDOWN_MS, late.signal)]);
      late.abort();
      services.aftermath.close();
      services.parked.close();
    },
  };
}

interface Listener {
  readonly port: number;
  /** Accepts nothing more, for good; resolves when every connection is closed. */
  close(): Promise<void>;
}

/**
 * `Deno.serve` gives a listener up for ever when the system refuses it a connection once: when somebody holds as many open as
 * the process may have files. Then its idle connections are closed, which gives the files back, its responses go on to their
 * ends, and a new listener takes its place.
 */
function keepListening(app: App, { clock, log }: Services, host: string, port: number): Listener {
  const closing = new AbortController();
  /** Listeners with responses that are not at their ends. */
  const open = new Set<Deno.HttpServer>();
  const first = listen(port);
  const bound = "port" in first.addr ? first.addr.port : port;

  function listen(at: number): Deno.HttpServer {
    const server = Deno.serve({ hostname: host, port: at, onListen: () => undefined }, (request) => app(request));
    open.add(server);
    server.finished.catch((error: unknown) => replace(server, error));
    return server;
  }

  function replace(lost: Deno.HttpServer, error: unknown): void {
    log.warn("no connection can be accepted; those that are idle are closed", { failure: errorKind(error) });
    void shutDown(lost);
    void listenAgain();
  }

  async function listenAgain(): Promise<void> {
    while (true) {
      await clock.sleep(LISTEN_AGAIN_MS, closing.signal);
      if (closing.signal.aborted) return;
      try {
        listen(bound);
        return log.info("listening again");
      } catch {
        // Its files are not back yet.
      }
    }
  }

  async function shutDown(server: Deno.HttpServer): Promise<void> {
    // One that was given up rejects with what it was given up for.
    await server.shutdown().catch(() => undefined);
    open.delete(server);
  }

  return {
    port: bound,
    async close() {
      closing.abort();
      await Promise.all([...open].map(shutDown));
    },
  };
}
