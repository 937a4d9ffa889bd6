/** A client on a bare socket, to leave in every way that a connection can end. */
import type { JsonObject } from "../../src/json.ts";

export interface RawClient {
  /** Reads until a text has come, or the end; gives all that was read. */
  until(text: string): Promise<string>;
  /** Reads what comes next, up to so many bytes; undefined at the end. */
  some(bytes: number): Promise<Uint8Array | undefined>;
  write(bytes: Uint8Array | string): Promise<void>;
  /** Says that nothing more will be sent, and still reads. */
  halfClose(): Promise<void>;
  /** Closes properly: what has come is read first, so that the system sends FIN. */
  close(): void;
}

/** The bytes of a POST of JSON. */
export function postBytes(body: JsonObject | string, headers: Record<string, string> = {}): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const fields = {
    host: "127.0.0.1",
    "content-type": "application/json",
    "content-length": String(new TextEncoder().encode(text).length),
    ...headers,
  };
  const lines = Object.entries(fields).filter(([, value]) => value !== "").map(([name, value]) => `${name}: ${value}`);
  return `POST / HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${text}`;
}

/** Connects and sends. Closing while bytes lie unread makes the system send RST instead of FIN. */
export async function connect(port: number, request: Uint8Array | string): Promise<RawClient> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const decoder = new TextDecoder();
  let all = "";

  async function write(given: Uint8Array | string): Promise<void> {
    const bytes = typeof given === "string" ? new TextEncoder().encode(given) : given;
    for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
  }

  async function some(bytes: number): Promise<Uint8Array | undefined> {
    const buffer = new Uint8Array(bytes);
    const count = await conn.read(buffer);
    return count === null ? undefined : buffer.subarray(0, count);
  }

  await write(request);
  return {
    async until(text) {
      while (!all.includes(text)) {
        const bytes = await some(64 * 1024);
        if (!bytes) break;
        all += decoder.decode(bytes, { stream: true });
      }
      return all;
    },
    some,
    write,
    halfClose: () => conn.closeWrite(),
    close: () => conn.close(),
  };
}
