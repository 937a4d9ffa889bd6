import assert from "node:assert/strict";
import { startDemoKernel } from "../../demo/kernel.ts";
import { startServer, type TestServer } from "../support/server.ts";

async function withServer(work: (server: TestServer) => Promise<void>): Promise<void> {
  const kernel = startDemoKernel({ token: "kernel-token", pace: 0 });
  try {
    await using server = await startServer(kernel.url);
    await work(server);
  } finally {
    await kernel.close();
  }
}

Deno.test("X-Thread-Id, when it is there, has to name the thread of the body, for runs and cancels", async () => {
  await withServer(async (server) => {
    const run = JSON.stringify(server.input("thread-1", "run-1"));
    for (const header of ["thread-2", "", "Thread-1", "thread-1, thread-1"]) {
      const refused = await server.post(run, { "x-thread-id": header });
      assert.equal(refused.status, 400, header);
      const { error } = await refused.json();
      assert.deepEqual(error, { code: "INVALID_INPUT", message: "threadId does not match the header X-Thread-Id." });
    }
    await assert.rejects(server.file("thread-1"), Deno.errors.NotFound, "a refused request leaves no trace");

    const served = await server.post(run, { "x-thread-id": "thread-1" });
    assert.equal(served.headers.get("content-type"), "text/event-stream");
    await served.body?.pipeTo(new WritableStream());
    const { execution } = await server.file("thread-1");
    const { executionId } = execution as { executionId: string };

    const cancel = async (header: string) => {
      const response = await fetch(
        `http://127.0.0.1:${server.port}/extensions/iac-code/v1/executions/${executionId}/cancel`,
        {
          method: "POST",
          body: JSON.stringify({ threadId: "thread-1", rosInvocationId: "invocation-1" }),
          headers: { "content-type": "application/json", "x-thread-id": header },
        },
      );
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await cancel("thread-2"), 400);
    assert.equal(await cancel("thread-1"), 200);
  });
});

Deno.test("without X-Thread-Id the body alone counts", async () => {
  await withServer(async (server) => {
    const run = await server.run("thread-1", "run-1");
    assert.equal((await run.last()).type, "RUN_FINISHED");
  });
});
