/**
 * A small HTTP/1.1 server on bare sockets, for answers that no proper server gives: split anywhere, cut, silent. It tells
 * how many bytes the other side's socket has taken.
 */

/** One request, and the connection to answer it on. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  /** Resolves when the connection is over, whoever ended it. */
  readonly gone: Promise<void>;
  /** Whether the other side ended it. */
  readonly left: boolean;
  /** Bytes that the socket has taken. */
  readonly taken: number;
  /** Queues bytes; resolves when the socket has taken them, or the connection is over. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Breaks the connection, once what was written before is on its way. */
  close(): Promise<void>;
}

export interface WireServer {
  readonly port: number;
  /** Connections that are open, idle ones included. */
  readonly connections: number;
  /** Closes connections on which nothing is under way; resolves when they are closed. */
  closeIdle(): Promise<void>;
  /** Breaks every connection and stops listening. */
  close(): Promise<void>;
}

/** Listens on 127.0.0.1. A connection is kept for the next request as long as `handle` leaves it open. */
export function listenWire(handle: (exchange: Exchange) => Promise<void>, port = 0): WireServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  const connections = new Map<Connection, Promise<void>>();
  const accepting = (async () => {
    try {
      for await (const conn of listener) {
        const connection = openConnection(conn);
        const serving = serveConnection(connection, handle).finally(() => connections.delete(connection));
        connections.set(connection, serving);
      }
    } catch (error) {
      // Closing a listener that is waiting is how it is told to stop.
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  })();
  return {
    port: listener.addr.port,
    get connections() {
      return connections.size;
    },
    async closeIdle() {
      const idle = [...connections].filter(([connection]) => connection.isIdle);
      for (const [connection] of idle) connection.close();
      await Promise.all(idle.map(([, serving]) => serving));
    },
    async close() {
      listener.close();
      for (const connection of connections.keys()) connection.close();
      await Promise.all([accepting, ...connections.values()]);
    },
  };
}

async function serveConnection(connection: Connection, handle: (exchange: Exchange) => Promise<void>): Promise<void> {
  try {
    while (true) {
      const exchange = await readExchange(connection);
      if (!exchange) return;
      connection.isIdle = false;
      await handle(exchange);
      connection.isIdle = true;
      await connection.flushed();
      if (connection.isOver) return;
    }
  } finally {
    connection.close();
    await connection.read;
  }
}

interface Connection {
  isIdle: boolean;
  /** Bytes up to and with the next blank line; undefined at the end of the connection. */
  head(): Promise<string | undefined>;
  bytes(count: number): Promise<Uint8Array | undefined>;
  write(bytes: Uint8Array): Promise<void>;
  flushed(): Promise<void>;
  close(): void;
  readonly gone: Promise<void>;
  readonly isOver: boolean;
  readonly left: boolean;
  readonly taken: number;
  /** Resolves when nothing is read any more. */
  readonly read: Promise<void>;
}

function openConnection(conn: Deno.TcpConn): Connection {
  const gone = Promise.withResolvers<void>();
  let waiting = new Uint8Array(0);
  let more = Promise.withResolvers<void>();
  let over: "no" | "left" | "closed" = "no";
  let taken = 0;
  let queue = Promise.resolve();

  function close(how: "left" | "closed"): void {
    if (over !== "no") return;
    over = how;
    conn.close();
    gone.resolve();
    more.resolve();
  }

  async function pump(): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    try {
      for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
        const joined = new Uint8Array(waiting.length + count);
        joined.set(waiting);
        joined.set(buffer.subarray(0, count), waiting.length);
        waiting = joined;
        more.resolve();
        more = Promise.withResolvers<void>();
      }
    } catch {
      // Reset by the other side, or closed by us: both are an end.
    }
    close("left");
  }

  async function until(found: () => number): Promise<number> {
    for (let at = found();; at = found()) {
      if (at >= 0 || over !== "no") return at;
      await more.promise;
    }
  }

  function take(count: number): Uint8Array {
    const head = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return head;
  }

  async function writeAll(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length && over === "no";) {
        const count = await conn.write(bytes.subarray(at));
        at += count;
        taken += count;
      }
    } catch {
      close("left");
    }
  }

  const read = pump();
  return {
    isIdle: true,
    async head() {
      const end = await until(() => indexOf(waiting, "\r\n\r\n"));
      return end < 0 ? undefined : new TextDecoder().decode(take(end + 4));
    },
    async bytes(count) {
      const there = await until(() => waiting.length >= count ? count : -1);
      return there < 0 ? undefined : take(count);
    },
    write(bytes) {
      return queue = queue.then(() => writeAll(bytes));
    },
    flushed: () => Promise.race([queue, gone.promise]),
    close: () => close("closed"),
    gone: gone.promise,
    get isOver() {
      return over !== "no";
    },
    get left() {
      return over === "left";
    },
    get taken() {
      return taken;
    },
    read,
  };
}

function indexOf(bytes: Uint8Array, text: string): number {
  const wanted = new TextEncoder().encode(text);
  for (let at = 0; at + wanted.length <= bytes.length; at++) {
    if (wanted.every((byte, offset) => bytes[at + offset] === byte)) return at;
  }
  return -1;
}

async function readExchange(connection: Connection): Promise<Exchange | undefined> {
  const head = await connection.head();
  if (head === undefined) return undefined;
  const [line = "", ...fields] = head.trimEnd().split("\r\n");
  const [method = "", path = ""] = line.split(" ");
  const headers = new Headers(fields.map((field): [string, string] => {
    const at = field.indexOf(":");
    return [field.slice(0, at), field.slice(at + 1).trim()];
  }));
  if (headers.has("transfer-encoding")) throw new Error("the kernel's client must send a Content-Length");
  const body = await connection.bytes(Number(headers.get("content-length") ?? 0));
  if (!body) return undefined;
  const before = connection.taken;
  return {
    method,
    path,
    headers,
    body: new TextDecoder().decode(body),
    gone: connection.gone,
    get left() {
      return connection.left;
    },
    get taken() {
      return connection.taken - before;
    },
    write: (bytes) => connection.write(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes),
    async close() {
      await connection.flushed();
      connection.close();
    },
  };
}
