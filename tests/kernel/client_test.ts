import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { connectKernel, type Kernel } from "../../src/kernel/client.ts";
import type { KernelStream } from "../../src/kernel/answer_body.ts";
import { KernelFailure } from "../../src/kernel/failure.ts";
import type { Frame } from "../../src/kernel/wire.ts";
import { collectGarbage } from "../support/collect_garbage.ts";
import { fakeClock } from "../support/fake_clock.ts";
import { frame, say, type Script, type StandInKernel, startStandIn } from "../support/stand_in_kernel.ts";
import { newTask } from "../support/stand_in_task.ts";

const never = new AbortController().signal;
const message: JsonObject = { message: { contextId: "context-1", parts: [{ text: "hello" }] } };

/** A test with a kernel that answers message streams by `script`, and a client of it. */
function clientTest(
  title: string,
  script: Script,
  test: (client: Kernel, kernel: StandInKernel) => Promise<void>,
): void {
  Deno.test(title, async () => {
    await using kernel = startStandIn();
    kernel.on("SendStreamingMessage", script);
    const client = connectKernel({ url: new URL(kernel.url), token: "kernel-token" });
    try {
      await test(client, kernel);
    } finally {
      client.close();
    }
  });
}

const open = (client: Kernel, signal = never): Promise<KernelStream> =>
  client.stream("SendStreamingMessage", message, signal);

/** All reads of a stream to its end. */
async function reads(stream: KernelStream): Promise<Frame[][]> {
  const all: Frame[][] = [];
  for (let frames = await stream.next(); frames; frames = await stream.next()) all.push(frames);
  stream.close();
  return all;
}

const textOf = (frames: readonly Frame[]): string[] =>
  frames.flatMap((each) => each.kind === "status" && each.status.message ? [each.status.message.text] : []);

async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(() => undefined, (reason: unknown) => reason);
  assert.ok(error instanceof KernelFailure, `not a KernelFailure: ${error}`);
  return error.message;
}

const task = newTask("context-1", "session-1");
const PIECES = ["Grüße, ", "漢字 and 😀 ", "line\u2028paragraph\u2029next\u0085line ", "end"];

clientTest("frames arrive whole when the kernel splits them after every byte", async (call) => {
  const bytes = new TextEncoder().encode(PIECES.map((piece) => frame(call, task.text(piece))).join(""));
  for (let at = 0; at < bytes.length; at++) await call.raw(bytes.subarray(at, at + 1));
}, async (client) => {
  const all = await reads(await open(client));
  assert.deepEqual(textOf(all.flat()), PIECES);
});

clientTest("CR and LF apart, lone LF and comments between frames end no frame early", async (call) => {
  const [first = "", second = ""] = PIECES.map((piece) => frame(call, task.text(piece)));
  await call.raw(": ping\r\n\r\n");
  await call.raw(first.slice(0, -3));
  await call.raw("\n\r");
  await call.raw("\n");
  await call.raw(second.replaceAll("\r\n", "\n"));
}, async (client) => {
  assert.deepEqual(textOf((await reads(await open(client))).flat()), PIECES.slice(0, 2));
});

clientTest("2,000 frames in one write arrive in order, and in few reads", async (call) => {
  await call.send(...Array.from({ length: 2_000 }, (_, at) => task.text(`${at} `)));
}, async (client) => {
  const all = await reads(await open(client));
  assert.deepEqual(textOf(all.flat()), Array.from({ length: 2_000 }, (_, at) => `${at} `));
  assert.ok(all.length < 200, `${all.length} reads`);
});

clientTest("U+2028, U+2029 and U+0085 stand raw in a frame and end no line", async (call) => {
  await call.raw(frame(call, task.text(PIECES[2] ?? "")).replace("\\u2028", "\u2028").replace("\\u0085", "\u0085"));
}, async (client) => {
  assert.deepEqual(textOf((await reads(await open(client))).flat()), PIECES.slice(2, 3));
});

clientTest("a frame that is not JSON is a frame that says so, and what follows is still read", async (call) => {
  await call.raw("data: {\r\n\r\n");
  await call.send(task.text("after"));
}, async (client) => {
  const frames = (await reads(await open(client))).flat();
  assert.deepEqual(frames.map(({ kind }) => kind), ["invalid", "status"]);
});

clientTest("an event without its blank line, as a cut stream leaves it, is no frame", async (call) => {
  await call.send(task.text("whole"));
  await call.raw(frame(call, task.text("half")).trimEnd());
}, async (client) => {
  assert.deepEqual(textOf((await reads(await open(client))).flat()), ["whole"]);
});

clientTest("an artifact of 20 MB passes", async (call) => {
  const text = "x".repeat(20_000_000);
  await call.send({ artifactUpdate: { taskId: task.id, artifact: { artifactId: "a", parts: [{ text }] } } });
}, async (client) => {
  const [artifact] = (await reads(await open(client))).flat();
  assert.equal(artifact?.kind, "artifact");
  assert.ok(JSON.stringify(artifact).length > 20_000_000);
});

clientTest("a JSON-RPC error is an answer, for a stream and for a call", async (call) => {
  await call.fail(-32603, "out of order");
}, async (client) => {
  const error: Frame = { kind: "error", code: -32603, message: "out of order", data: undefined };
  assert.deepEqual(await reads(await open(client)), [[error]]);
  const lost = await client.call("GetTask", { id: "no such task" });
  assert.deepEqual(lost, { ...error, code: -32001, message: "Task not found" });
});

clientTest("an HTTP error is a failure with its status, and a page of HTML is no answer", async (call) => {
  await call.answer(200, "text/html", "<html>It works!</html>");
}, async (client, kernel) => {
  assert.deepEqual((await reads(await open(client))).flat(), [{ kind: "invalid", why: "not JSON" }]);
  for (const status of [400, 401, 403, 404, 409, 429, 500, 502, 503]) {
    const refuse: Script = (call) => call.answer(status, "text/html", "<h1>no</h1>");
    for (const name of ["SendStreamingMessage", "GetTask", "SubscribeToTask"] as const) kernel.on(name, refuse);
    assert.equal(await failure(open(client)), `status ${status}`);
    assert.equal(await failure(client.stream("SubscribeToTask", { id: task.id }, never)), `status ${status}`);
    assert.equal(await failure(client.call("GetTask", { id: task.id })), `status ${status}`);
  }
});

clientTest("a redirect is not followed: it would carry the token and the cloud keys elsewhere", async (call) => {
  await call.answer(307, "text/plain\r\nlocation: http://127.0.0.1:1/", "");
}, async (client, kernel) => {
  assert.equal(await failure(open(client)), "broken");
  assert.equal(kernel.calls.length, 1);
});

clientTest("no listener is `refused`, a connection that breaks is `broken`", async (call) => {
  await call.send(task.text("one"));
  await call.cut();
}, async (client, kernel) => {
  const stream = await open(client);
  assert.equal((await stream.next())?.length, 1);
  assert.equal(await failure(stream.next()), "broken");
  stream.close();
  await kernel.down();
  assert.equal(await failure(open(client)), "refused");
  assert.equal(await failure(client.call("CancelTask", { id: task.id })), "refused");
});

clientTest("a message is sent once though its connection breaks, fresh or used before", async (call) => {
  await call.cut();
}, async (client, kernel) => {
  for (const name of ["SendStreamingMessage", "SendMessage"] as const) kernel.on(name, (call) => call.cut());
  for (const isUsed of [false, true]) {
    for (const name of ["SendStreamingMessage", "SendMessage"] as const) {
      if (isUsed) await client.call("GetTask", { id: "any" });
      const before = kernel.got(name).length;
      const sent = name === "SendMessage" ? client.call(name, message) : client.stream(name, message, never);
      assert.equal(await failure(sent), "broken");
      assert.equal(kernel.got(name).length - before, 1, `${name}, ${isUsed ? "used" : "fresh"} connection`);
    }
  }
});

clientTest("a message has a Content-Length and the headers of A2A", say("Hello."), async (client, kernel) => {
  await reads(await open(client));
  const { headers } = await kernel.called("SendStreamingMessage");
  const names = ["accept", "a2a-version", "authorization", "content-type", "transfer-encoding"];
  const found = Object.fromEntries(names.map((name) => [name, headers.get(name)]));
  assert.deepEqual(found, {
    "accept": "text/event-stream",
    "a2a-version": "1.0",
    "authorization": "Bearer kernel-token",
    "content-type": "application/json",
    "transfer-encoding": null,
  });
  assert.ok(Number(headers.get("content-length")) > 100);
});

clientTest(
  "a connection that the kernel closed while it was idle is not used again",
  say("Hello."),
  async (client, kernel) => {
    for (let turn = 0; turn < 10; turn++) {
      assert.deepEqual(textOf((await reads(await open(client))).flat()), ["Hello.", "Hello."]);
      await kernel.closeIdle();
      // The end of a connection is no event that a user of fetch could wait for.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(kernel.got("SendStreamingMessage").length, 10);
  },
);

Deno.test("a loopback kernel is reached directly, whatever HTTP_PROXY says", async () => {
  const seen: string[] = [];
  await using proxy = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    seen.push(request.url);
    return new Response("from the proxy");
  });
  await using kernel = startStandIn();
  const before = Deno.env.get("HTTP_PROXY");
  Deno.env.set("HTTP_PROXY", `http://127.0.0.1:${proxy.addr.port}`);
  const client = connectKernel({ url: new URL(kernel.url), token: undefined });
  using other = Deno.createHttpClient({});
  try {
    // That a client which does nothing about it would be led to the proxy is shown first.
    assert.equal(await (await fetch(kernel.url, { client: other })).text(), "from the proxy");
    assert.equal(seen.length, 1);
    await reads(await open(client));
    assert.equal(seen.length, 1);
    assert.equal(kernel.got("SendStreamingMessage").length, 1);
  } finally {
    if (before === undefined) Deno.env.delete("HTTP_PROXY");
    else Deno.env.set("HTTP_PROXY", before);
    client.close();
  }
});

const held: Script = async (call) => {
  await call.send(task.text("one"));
  await call.gone;
};

clientTest("leaving a stream closes its connection, also after a garbage collection", held, async (client, kernel) => {
  const stream = await open(client);
  await stream.next();
  const next = stream.next();
  collectGarbage();
  stream.close();
  assert.equal(await next, undefined);
  const call = await kernel.called("SendStreamingMessage");
  await call.gone;
  assert.ok(call.left);
});

clientTest(
  "an abort ends a stream and its connection, also after a garbage collection",
  held,
  async (client, kernel) => {
    const abort = new AbortController();
    const stream = await open(client, abort.signal);
    await stream.next();
    const next = stream.next();
    collectGarbage();
    abort.abort();
    await assert.rejects(next, { name: "AbortError" });
    await (await kernel.called("SendStreamingMessage")).gone;
    stream.close();
  },
);

for (const [when, stall] of [["before its head", ""], ["after its head", "HTTP head"]] as const) {
  Deno.test(`a call whose answer stalls ${when} is over after its time, and its connection with it`, async () => {
    await using kernel = startStandIn();
    const clock = fakeClock();
    const client = connectKernel({ url: new URL(kernel.url), token: undefined, clock });
    kernel.on("GetTask", async (call) => {
      if (stall !== "") await call.raw("");
      await call.gone;
    });
    const asked = failure(client.call("GetTask", { id: "any" }, undefined, 30_000));
    await kernel.called("GetTask");
    await clock.waiting(30_000);
    collectGarbage();
    await clock.advance(30_000);
    assert.equal(await asked, "broken");
    await (await kernel.called("GetTask")).gone;
    client.close();
  });
}
