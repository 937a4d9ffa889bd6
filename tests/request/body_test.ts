import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { CANCEL_BODY_BYTES, RUN_BODY_BYTES } from "../../src/limits.ts";
import { readBody } from "../../src/request/body.ts";

const LONG_MS = 30_000;
const MIB = 1024 * 1024;

interface Source {
  readonly request: Request;
  /** Bytes that were taken from the source so far. */
  taken(): number;
  /** Resolves when the reader has given the body up. */
  readonly givenUp: Promise<void>;
}

type End = "whole" | "stops" | "breaks";

/** A request whose body comes in these chunks, then `end`, as a stream of bytes like that of a connection. */
function arriving(chunks: Iterable<Uint8Array<ArrayBuffer>>, end: End = "whole"): Source {
  const rest = chunks[Symbol.iterator]();
  const givenUp = Promise.withResolvers<void>();
  let taken = 0;
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      let next = rest.next();
      // A stream of bytes knows no empty chunk.
      while (!next.done && next.value.length === 0) next = rest.next();
      if (!next.done) {
        taken += next.value.length;
        return controller.enqueue(next.value);
      }
      if (end === "stops") return new Promise(() => undefined);
      if (end === "breaks") return controller.error(new TypeError("the client is gone"));
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: () => givenUp.resolve(),
  });
  const request = new Request("http://localhost/", { method: "POST", body });
  return { request, taken: () => taken, givenUp: givenUp.promise };
}

function bytes(...values: number[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(values);
}

function* many(total: number, size: number): Generator<Uint8Array<ArrayBuffer>> {
  for (let left = total; left > 0; left -= size) yield new Uint8Array(Math.min(size, left)).fill(left % 251);
}

function codeOf(result: Uint8Array | { code: string }): string | undefined {
  return "code" in result ? result.code : undefined;
}

Deno.test("a body is put together from its chunks in their order", async () => {
  assert.deepEqual(await readBody(arriving([bytes(1, 2), bytes(), bytes(3)]).request, 10, LONG_MS), bytes(1, 2, 3));
  assert.deepEqual(await readBody(arriving([bytes(7)]).request, 10, LONG_MS), bytes(7));
});

Deno.test("a body that is no stream of bytes is read as well", async () => {
  const request = new Request("http://localhost/", { method: "POST", body: '{"a":"ü"}' });
  assert.deepEqual(await readBody(request, 100, LONG_MS), new TextEncoder().encode('{"a":"ü"}'));
  const stream = ReadableStream.from([bytes(1, 2), bytes(3), bytes(), bytes(4)]);
  const chunked = new Request("http://localhost/", { method: "POST", body: stream });
  assert.deepEqual(await readBody(chunked, 100, LONG_MS), bytes(1, 2, 3, 4));
});

Deno.test("bytes come out as they went in, whatever their chunks", async () => {
  for (const size of [1, 7, 1000, 65_535, 65_536, 65_537, 200_000]) {
    const whole = Uint8Array.from({ length: Math.min(250_000, size * 3000) }, (_, at) => at % 251);
    const chunks = Array.from(
      { length: Math.ceil(whole.length / size) },
      (_, at) => whole.slice(at * size, (at + 1) * size),
    );
    const read = await readBody(arriving(chunks).request, RUN_BODY_BYTES, LONG_MS);
    assert.ok(read instanceof Uint8Array);
    assert.equal(Buffer.compare(read, whole), 0, `chunks of ${size} bytes`);
  }
});

Deno.test("a request without a body has no bytes", async () => {
  assert.deepEqual(await readBody(new Request("http://localhost/", { method: "POST" }), 10, LONG_MS), bytes());
  assert.deepEqual(await readBody(arriving([]).request, 10, LONG_MS), bytes());
});

Deno.test("a body may be as long as the limit, and no byte longer", async () => {
  for (const limit of [RUN_BODY_BYTES, CANCEL_BODY_BYTES]) {
    const fits = await readBody(arriving(many(limit, 64 * 1024)).request, limit, LONG_MS);
    assert.equal(codeOf(fits), undefined);
    assert.equal((fits as Uint8Array).length, limit);
    const over = await readBody(arriving(many(limit + 1, 64 * 1024)).request, limit, LONG_MS);
    assert.deepEqual(over, { code: "REQUEST_TOO_LARGE", params: { limit } });
  }
});

Deno.test("reading stops at the first chunk past the limit, and the rest is given up", async () => {
  const source = arriving(many(100 * MIB, MIB));
  assert.equal(codeOf(await readBody(source.request, 12 * MIB, LONG_MS)), "REQUEST_TOO_LARGE");
  await source.givenUp;
  assert.ok(source.taken() > 12 * MIB && source.taken() <= 14 * MIB, `${source.taken()} bytes`);
});

Deno.test("a declared length over the limit is refused before a byte is read", async () => {
  const { request } = arriving([bytes(1)]);
  request.headers.set("content-length", "11");
  assert.deepEqual(await readBody(request, 10, LONG_MS), { code: "REQUEST_TOO_LARGE", params: { limit: 10 } });
  assert.equal(request.bodyUsed, false);
  await request.body?.cancel();
});

Deno.test("a declared length may be the limit itself, or far above what comes", async () => {
  for (const [declared, sent] of [[10, 10], [10, 1], [0, 3]] as const) {
    const { request } = arriving([new Uint8Array(sent)]);
    request.headers.set("content-length", String(declared));
    assert.deepEqual(await readBody(request, 10, LONG_MS), new Uint8Array(sent));
  }
});

Deno.test("a declared length within the limit does not let more in", async () => {
  const { request } = arriving([new Uint8Array(11)]);
  request.headers.set("content-length", "10");
  assert.equal(codeOf(await readBody(request, 10, LONG_MS)), "REQUEST_TOO_LARGE");
});

Deno.test("a length that is no number says nothing", async () => {
  const { request } = arriving([bytes(1)]);
  request.headers.set("content-length", "many");
  assert.deepEqual(await readBody(request, 10, LONG_MS), bytes(1));
});

Deno.test("a body that stops half-way is given up when its time is over", async () => {
  const source = arriving([bytes(0x7b)], "stops");
  assert.deepEqual(await readBody(source.request, 10, 20), { code: "REQUEST_TIMEOUT", params: { seconds: 0.02 } });
  await source.givenUp;
});

Deno.test("a body that drips in has one time for all of it", async () => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { promise, resolve } = Promise.withResolvers<void>();
      timer = setTimeout(() => {
        controller.enqueue(bytes(0x20));
        resolve();
      }, 5);
      return promise;
    },
    cancel: () => clearTimeout(timer),
  }, { highWaterMark: 0 });
  const request = new Request("http://localhost/", { method: "POST", body });
  assert.equal(codeOf(await readBody(request, 1_000_000, 40)), "REQUEST_TIMEOUT");
});

Deno.test("a client that leaves while its body is read rejects", async () => {
  await assert.rejects(readBody(arriving([bytes(1)], "breaks").request, 10, LONG_MS), TypeError);
});

Deno.test("bodies on their way at once have so much room together; what is read, refused or broken gives its room back", async () => {
  const room = { left: 3 * MIB };
  const slow = [1, 2].map(() => arriving(many(MIB, MIB / 4), "stops"));
  const waiting = slow.map(({ request }) => readBody(request, RUN_BODY_BYTES, 500, room));
  while (slow.some((source) => source.taken() < MIB)) await new Promise((resolve) => setTimeout(resolve, 1));
  const third = arriving(many(2 * MIB, MIB / 4));
  const refused = await readBody(third.request, RUN_BODY_BYTES, LONG_MS, room);
  assert.ok("code" in refused);
  assert.equal(refused.code, "SERVER_BUSY");
  await third.givenUp;
  const late = await Promise.all(waiting);
  assert.deepEqual(late.map((answer) => "code" in answer && answer.code), ["REQUEST_TIMEOUT", "REQUEST_TIMEOUT"]);
  await assert.rejects(readBody(arriving(many(MIB, MIB), "breaks").request, RUN_BODY_BYTES, LONG_MS, room));
  const whole = await readBody(arriving(many(2 * MIB, MIB / 4)).request, RUN_BODY_BYTES, LONG_MS, room);
  assert.equal("code" in whole ? whole.code : whole.length, 2 * MIB);
  assert.equal(room.left, 3 * MIB);
});
