/** A workspace is created for a run that begins, and for no other request. */
import assert from "node:assert/strict";
import { startServer, type TestServer } from "../support/server.ts";
import { startStandIn } from "../support/stand_in_kernel.ts";

async function workspaces({ cwd }: TestServer): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(cwd), ({ name }) => name)).sort();
}

async function refused(server: TestServer, threadId: string, runId: string, name: string): Promise<string> {
  const response = await server.post(
    JSON.stringify(server.input(threadId, runId, { iac: { cwd: `${server.cwd}/${name}` } })),
  );
  return (await response.json()).error.code;
}

Deno.test("a request that is refused leaves no workspace behind", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  const iac = { cwd: `${server.cwd}/first/session` };
  assert.equal((await (await server.run("thread-1", "run-1", { iac })).last()).type, "RUN_FINISHED");
  assert.deepEqual(await workspaces(server), ["first"]);

  assert.equal(await refused(server, "thread-1", "run-1", "used-id"), "RUN_ID_CONFLICT");
  assert.equal(await refused(server, "thread-1", "run-2", "other-workspace"), "THREAD_BINDING_CONFLICT");
  assert.equal(await refused(server, "thread-2", "", "no-run-id"), "INVALID_INPUT");
  await Deno.writeTextFile(`${server.cwd}/file`, "x");
  assert.equal(await refused(server, "thread-2", "run-1", "file/below"), "INVALID_INPUT");
  assert.deepEqual(await workspaces(server), ["file", "first"]);
});

Deno.test("a run that cannot be written down leaves no workspace behind", async () => {
  await using kernel = startStandIn();
  await using server = await startServer(kernel.url);
  await Deno.remove(server.threads);
  await Deno.writeTextFile(server.threads, "no folder");
  assert.equal(await refused(server, "thread-1", "run-1", "a/b/c"), "STATE_UNAVAILABLE");
  assert.deepEqual(await workspaces(server), []);
});
