/** Heads of requests that a proper client does not send. */
import assert from "node:assert/strict";
import { connect, postBytes } from "../support/raw_client.ts";
import { startServer } from "../support/server.ts";
import { startStandIn } from "../support/stand_in_kernel.ts";

Deno.test("a Host that is no name of a host is refused as a foreign one, not as an error of the server", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  for (const host of ["127ntent-type: application/json", "a b", "[::1", "127.0.0.1:port", "%"]) {
    const client = await connect(server.port, postBytes(server.input("thread", "run-1"), { host }));
    const answer = await client.until("FORBIDDEN_HOST");
    assert.match(answer, /^HTTP\/1\.1 40[03] /, host);
    client.close();
  }
  assert.deepEqual(server.complaints, []);
  assert.equal(kernel.calls.length, 0);
});
