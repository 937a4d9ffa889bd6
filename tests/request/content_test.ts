import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { ALL_IMAGES_BYTES, IMAGE_BYTES, IMAGE_PIXELS } from "../../src/limits.ts";
import { userMessage } from "../../src/request/content.ts";
import type { ContentPart } from "../../src/request/run_request.ts";

type Message = Parameters<typeof userMessage>[0][number];

/** A GIF's header with bytes behind it, up to a size: enough to be taken for one. */
function gif(bytes = 16, width = 2, height = 3): Buffer {
  const picture = Buffer.alloc(bytes);
  picture.write("GIF89a", "latin1");
  picture.writeUInt16LE(width, 6);
  picture.writeUInt16LE(height, 8);
  return picture;
}

function image(value: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: "image", source: { type: "data", value, mimeType: "image/gif" }, ...more };
}

const PICTURE = gif().toString("base64");

function user(content: unknown, id = "m"): Message {
  return { id, role: "user", content };
}

/** The parts of a message that is taken. */
function parts(...messages: Message[]): readonly ContentPart[] {
  const found = userMessage(messages);
  assert.ok("message" in found, JSON.stringify(found).slice(0, 200));
  return found.message.parts;
}

/** The sentence and field of a message that is refused. */
function problem(...messages: Message[]): string {
  const found = userMessage(messages);
  assert.ok("refusal" in found, "taken");
  assert.equal(found.refusal.code, "INVALID_INPUT");
  return `${found.refusal.message} ${found.refusal.params?.field}`;
}

Deno.test("a user's message is text, or parts in their order", () => {
  assert.deepEqual(parts(user("hello")), [{ kind: "text", text: "hello" }]);
  const content = [{ type: "text", text: "look:" }, image(PICTURE), { type: "text", text: "" }];
  assert.deepEqual(parts(user(content)), [
    { kind: "text", text: "look:" },
    {
      kind: "image",
      image: { mediaType: "image/gif", filename: "agui-image-2", base64: PICTURE, bytes: gif().length },
    },
    { kind: "text", text: "" },
  ]);
});

Deno.test("the newest user message counts, wherever it stands", () => {
  const assistant = { id: "a", role: "assistant", content: "hi" };
  const found = userMessage([user("old", "1"), user("new", "2"), assistant, { id: "t", role: "tool", content: "x" }]);
  assert.deepEqual(found, { message: { id: "2", parts: [{ kind: "text", text: "new" }] } });
});

Deno.test("older messages are not looked at", () => {
  assert.deepEqual(parts(user(5), user([{ type: "audio" }]), user("new")), [{ kind: "text", text: "new" }]);
});

Deno.test("without a user message, or with neither text nor image in it, there is nothing to run", () => {
  assert.equal(problem(), "userMessageMissing messages");
  assert.equal(problem({ id: "a", role: "assistant", content: "x" }), "userMessageMissing messages");
  assert.equal(problem({ id: "a", role: "User", content: "x" }), "userMessageMissing messages");
  const assistant = { id: "a", role: "assistant", content: "x" };
  for (
    const content of ["", [], [{ type: "text", text: "" }], [{ type: "text", text: "" }, { type: "text", text: "" }]]
  ) {
    assert.equal(problem(assistant, user(content), assistant), "userMessageMissing messages[1].content");
  }
});

Deno.test("content that is neither text nor a list of parts is refused with its place", () => {
  for (const content of [undefined, null, 5, true, { type: "text", text: "x" }]) {
    assert.equal(problem(user("old"), user(content)), "fieldType messages[1].content");
  }
  const table: [part: unknown, expected: string][] = [
    [null, "fieldType messages[0].content[1]"],
    ["text", "fieldType messages[0].content[1]"],
    [{ type: "text" }, "fieldType messages[0].content[1].text"],
    [{ type: "text", text: 5 }, "fieldType messages[0].content[1].text"],
    [{}, "partNotSupported messages[0].content[1]"],
    [{ type: "audio", source: {} }, "partNotSupported messages[0].content[1]"],
    [{ type: "video" }, "partNotSupported messages[0].content[1]"],
    [{ type: "document" }, "partNotSupported messages[0].content[1]"],
    [{ type: "binary", mimeType: "image/png", data: PICTURE }, "partNotSupported messages[0].content[1]"],
    [{ type: "constructor" }, "partNotSupported messages[0].content[1]"],
    [{ type: "image" }, "imageNotInline messages[0].content[1].source"],
    [
      { type: "image", source: { type: "url", value: "https://x.example/" } },
      "imageNotInline messages[0].content[1].source",
    ],
    [{ type: "image", source: { type: "data" } }, "imageNotInline messages[0].content[1].source"],
    [image(5), "imageNotInline messages[0].content[1].source"],
    [image("data:image/gif;base64,AAAA"), "imageNotBase64 messages[0].content[1].source.value"],
    [image(Buffer.from("no picture").toString("base64")), "imageKind messages[0].content[1].source.value"],
  ];
  for (const [part, expected] of table) {
    assert.equal(problem(user([{ type: "text", text: "x" }, part])), expected, JSON.stringify(part));
  }
  const expectedOf = (content: unknown) => {
    const found = userMessage([user(content)]);
    return "refusal" in found && found.refusal.params?.expected;
  };
  assert.deepEqual([expectedOf(5), expectedOf([5]), expectedOf([{ type: "text" }])], [
    "string | array",
    "object",
    "string",
  ]);
});

Deno.test("half a surrogate pair in a text, which the kernel would refuse, becomes U+FFFD", () => {
  assert.deepEqual(parts(user("cut \ud83d")), [{ kind: "text", text: "cut \ufffd" }]);
  assert.deepEqual(parts(user([{ type: "text", text: "\ude00 😀" }])), [{ kind: "text", text: "\ufffd 😀" }]);
});

Deno.test("base64 is strict: padded, without white space, of its own alphabet", () => {
  const good = [gif(16), gif(17), gif(18)].map((picture) => picture.toString("base64"));
  for (const value of good) assert.deepEqual(parts(user([image(value)])).length, 1);
  const [one = "", two = "", none = ""] = good;
  const bad = [
    "",
    one.replace(/=+$/, ""),
    two.replace(/=$/, ""),
    `${none}=`,
    `${none}====`,
    ` ${none}`,
    `${none}\n`,
    `${none.slice(0, 8)}\r\n${none.slice(8)}`,
    none.replace(/.$/, "-"),
    none.replace(/.$/, "_"),
    `${none.slice(0, -4)}A===`,
    `${one}${one}`,
    "====",
    "AA=A",
    "ÄÄÄÄ",
    "\u0000AAA",
  ];
  for (const value of bad) {
    assert.equal(
      problem(user([image(value)])),
      "imageNotBase64 messages[0].content[0].source.value",
      JSON.stringify(value),
    );
  }
});

Deno.test("base64 that goes on otherwise is refused, whatever its bytes", () => {
  const symbols = fc.constantFrom(..."AZaz09+/=-_ \n");
  fc.assert(fc.property(fc.array(symbols, { maxLength: 12 }), (tail) => {
    const value = gif(15).toString("base64") + tail.join("");
    const strict = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value);
    const found = userMessage([user([image(value)])]);
    assert.equal("message" in found, strict);
  }));
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (tail) => {
    const picture = Buffer.concat([gif(15), tail]);
    const [part] = parts(user([image(picture.toString("base64"))]));
    assert.ok(part?.kind === "image" && part.image.bytes === picture.length);
  }));
});

Deno.test("an image may have 8 MiB, all together 10 MiB, and no byte more", () => {
  const of = (bytes: number) => image(gif(bytes).toString("base64"));
  assert.equal(parts(user([of(IMAGE_BYTES), of(ALL_IMAGES_BYTES - IMAGE_BYTES)])).length, 2);
  assert.equal(problem(user([of(IMAGE_BYTES + 1)])), "imageTooLarge messages[0].content[0].source.value");
  assert.equal(
    problem(user([of(IMAGE_BYTES), of(ALL_IMAGES_BYTES - IMAGE_BYTES + 1)])),
    "imagesTooLarge messages[0].content",
  );
});

Deno.test("an image may have 64 megapixels and no more", () => {
  const of = (width: number, height: number) => image(gif(16, width, height).toString("base64"));
  assert.equal(parts(user([of(IMAGE_PIXELS / 1000, 1000)])).length, 1);
  assert.equal(problem(user([of(IMAGE_PIXELS / 1000, 1001)])), "imagePixels messages[0].content[0].source.value");
  assert.equal(problem(user([of(65_535, 65_535)])), "imagePixels messages[0].content[0].source.value");
});

Deno.test("an image's type is what its bytes say", () => {
  const named = image(PICTURE, { source: { type: "data", value: PICTURE, mimeType: "image/png" } });
  const [part] = parts(user([named]));
  assert.ok(part?.kind === "image");
  assert.equal(part.image.mediaType, "image/gif");
});

Deno.test("a plain file name is kept, anything doubtful is replaced by one of our own", () => {
  const filename = (name: unknown) => {
    const [part] = parts(user([image(PICTURE, { metadata: { filename: name } })]));
    assert.ok(part?.kind === "image");
    return part.image.filename;
  };
  const good = ["a.png", "Plan v2 (final).jpeg", ".hidden", "ü.gif", "图.webp", "x".repeat(255), "a..b"];
  const bad = [
    5,
    null,
    "",
    ".",
    "..",
    "...",
    "a/b",
    "a\\b",
    "c:x",
    "a*",
    "a?",
    'a"',
    "<a>",
    "a|b",
    "a\nb",
    "a\u0000",
    "a\u202eb",
    "\ud800",
    " a",
    "a ",
    "a.",
    "x".repeat(256),
    "ü".repeat(128),
  ];
  for (const name of good) assert.equal(filename(name), name);
  for (const name of bad) assert.equal(filename(name), "agui-image-1", JSON.stringify(name));
  for (const metadata of [undefined, null, [], "a.png", 5]) {
    const [part] = parts(user([image(PICTURE, { metadata })]));
    assert.ok(part?.kind === "image" && part.image.filename === "agui-image-1");
  }
});
