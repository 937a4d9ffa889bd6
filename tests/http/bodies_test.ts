/** Bodies that are too large, too slow, or cut short, and what the answer's own encoding is. */
import assert from "node:assert/strict";
import { RUN_BODY_BYTES } from "../../src/limits.ts";
import { connect, postBytes } from "../support/raw_client.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { type StandInKernel, startStandIn } from "../support/stand_in_kernel.ts";

function bodyTest(
  title: string,
  test: (server: TestServer, kernel: StandInKernel) => Promise<void>,
  bodyMs?: number,
): void {
  Deno.test(title, async () => {
    await using kernel = startStandIn();
    await using server = await startServer(kernel.url, bodyMs === undefined ? {} : { edges: { bodyMs } });
    await test(server, kernel);
    assert.equal(kernel.calls.length, 0, "nothing reaches the kernel");
    assert.deepEqual(await Array.fromAsync(Deno.readDir(server.threads)), [], "no trace is left");
    assert.equal((await (await server.run("next", "run-1")).last()).type, "RUN_FINISHED", "the next request is served");
    assert.deepEqual(server.complaints, []);
  });
}

const CHUNKED = { "content-length": "", "transfer-encoding": "chunked" };

bodyTest("a body of 12 MiB and one byte without a Content-Length is refused while it is read", async (server) => {
  const client = await connect(server.port, postBytes("", CHUNKED).trimEnd() + "\r\n\r\n");
  const piece = new Uint8Array(RUN_BODY_BYTES / 12).fill(32);
  const send = async (): Promise<void> => {
    for (let sent = 0; sent < 12; sent++) {
      await client.write(`${piece.length.toString(16)}\r\n`);
      await client.write(piece);
      await client.write("\r\n");
    }
    await client.write("1\r\n \r\n0\r\n\r\n");
  };
  // The service may close while the rest is on its way.
  const [answer] = await Promise.all([client.until("REQUEST_TOO_LARGE"), send().catch(() => undefined)]);
  assert.match(answer, /^HTTP\/1.1 413 /);
  client.close();
});

bodyTest("12 MiB exactly are read whole", async (server) => {
  const client = await connect(server.port, postBytes("", { "content-length": String(RUN_BODY_BYTES) }));
  const [answer] = await Promise.all([
    client.until("INVALID_JSON"),
    client.write(new Uint8Array(RUN_BODY_BYTES).fill(32)),
  ]);
  assert.match(answer, /^HTTP\/1.1 400 /);
  client.close();
});

bodyTest("a declared length over the limit is refused before a byte of the body", async (server) => {
  const client = await connect(server.port, postBytes("", { "content-length": String(RUN_BODY_BYTES + 1) }));
  assert.match(await client.until("REQUEST_TOO_LARGE"), /^HTTP\/1.1 413 /);
  client.close();
});

bodyTest("half a body is answered with 408 when its time is over", async (server) => {
  const whole = postBytes(server.input("half", "run-1"));
  const client = await connect(server.port, whole.slice(0, -100));
  assert.match(await client.until("REQUEST_TIMEOUT"), /^HTTP\/1.1 408 /);
  client.close();
}, 150);

bodyTest("a body that drips in has one time for all of it", async (server) => {
  const whole = postBytes(server.input("drip", "run-1"));
  const client = await connect(server.port, whole.slice(0, -100));
  let over = false;
  const answer = client.until("REQUEST_TIMEOUT").finally(() => over = true);
  for (let at = whole.length - 100; !over && at < whole.length - 1; at++) {
    await client.write(whole.slice(at, at + 1)).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.ok(over, "99 drips, each in time, are too late together");
  assert.match(await answer, /^HTTP\/1.1 408 /);
  client.close();
}, 300);

Deno.test("a stream is never compressed, whatever the client accepts", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  for (const [at, accepted] of ["gzip", "br", "gzip, deflate, br, zstd", "*"].entries()) {
    const request = postBytes(server.input(`thread-${at}`, "run-1"), { "accept-encoding": accepted });
    const client = await connect(server.port, request);
    const answer = await client.until("RUN_FINISHED");
    assert.doesNotMatch(answer, /content-encoding/i, accepted);
    assert.match(answer, /data: \{"type":"RUN_STARTED"/);
    client.close();
  }
});
