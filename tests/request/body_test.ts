import assert from "node:assert/strict";
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

/** A request whose body comes in these chunks, then `end`. */
function arriving(chunks: Iterable<Uint8Array>, end: "whole" | "stops" | "breaks" = "whole"): Source {
  const rest = chunks[Symbol.iterator]();
  const givenUp = Promise.withResolvers<void>();
  let taken = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = rest.next();
      if (!done) {
        taken += value.length;
        return controller.enqueue(value);
      }
      if (end === "stops") return new Promise(() => undefined);
      if (end === "breaks") return controller.error(new TypeError("the client is gone"));
      controller.close();
    },
    cancel: () => givenUp.resolve(),
  }, { highWaterMark: 0 });
  const request = new Request("http://localhost/", { method: "POST", body });
  return { request, taken: () => taken, givenUp: givenUp.promise };
}

function bytes(...values: number[]): Uint8Array {
  return new Uint8Array(values);
}

function* many(total: number, size: number): Generator<Uint8Array> {
  for (let left = total; left > 0; left -= size) yield new Uint8Array(Math.min(size, left)).fill(left % 251);
}

function codeOf(result: Uint8Array | { code: string }): string | undefined {
  return "code" in result ? result.code : undefined;
}

Deno.test("a body is put together from its chunks in their order", async () => {
  assert.deepEqual(await readBody(arriving([bytes(1, 2), bytes(), bytes(3)]).request, 10, LONG_MS), bytes(1, 2, 3));
  assert.deepEqual(await readBody(arriving([bytes(7)]).request, 10, LONG_MS), bytes(7));
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
  assert.equal(source.taken(), 13 * MIB);
});

Deno.test("a declared length over the limit is refused before a byte is read", async () => {
  const { request, taken } = arriving([bytes(1)]);
  request.headers.set("content-length", "11");
  assert.deepEqual(await readBody(request, 10, LONG_MS), { code: "REQUEST_TOO_LARGE", params: { limit: 10 } });
  assert.equal(taken(), 0);
  await request.body?.cancel();
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
