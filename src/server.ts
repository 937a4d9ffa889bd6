/** Listens, and stops in bounded time: no new requests, active runs ended, the aftermath waited for (docs/operators.md). */
import type { App } from "./app.ts";
import { SHUTDOWN_MS } from "./limits.ts";
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
  const server = Deno.serve({ hostname: host, port, onListen: () => undefined }, (request) => app(request));
  const address = server.addr;
  return {
    port: "port" in address ? address.port : port,
    async stop() {
      services.stopping = true;
      const late = new AbortController();
      const ended = (async () => {
        // Resolves when the last response is out.
        const closed = server.shutdown();
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
