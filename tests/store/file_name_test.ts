import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { threadFileName } from "../../src/store/file_name.ts";

function hex(id: string): string {
  return `aguiid~${new TextEncoder().encode(id).toHex()}.json`;
}

function hash(id: string): string {
  return `aguihash~${createHash("sha256").update(id).digest("hex")}.json`;
}

Deno.test("a plain id names its file", () => {
  const plain = [
    "a",
    "0",
    "8473547e-c8ed-4aef-a84c-603a6a8d42da",
    "a.b_c-d",
    ".hidden",
    "..a",
    "-",
    "_",
    "console",
    "com0",
    "com10",
    "lpt",
    "xcon",
    ".con",
    "__proto__",
    "constructor",
    "x".repeat(250),
  ];
  for (const id of plain) assert.equal(threadFileName(id), `${id}.json`, id);
});

Deno.test("any other id is written in hex, so that no two ids and no folder can meet", () => {
  const encoded = [
    ".",
    "..",
    "...",
    "a.",
    "con",
    "con.txt",
    "con.tar.gz",
    "prn",
    "aux",
    "nul.",
    "com1",
    "com9.log",
    "lpt5",
    "Abc",
    "CON",
    "a/b",
    "a/../b",
    "../escape",
    "/etc/passwd",
    "a\\b",
    "c:x",
    "a b",
    " a",
    "a\n",
    "a\0b",
    "ü",
    "u\u0308",
    "日本",
    "😀",
    "aguiid~61",
    "aguihash~00",
    "a*?",
    "~",
  ];
  for (const id of encoded) assert.equal(threadFileName(id), hex(id), id);
});

Deno.test("what would be too long in hex is hashed", () => {
  assert.equal(threadFileName("B".repeat(96)), hex("B".repeat(96)));
  assert.equal(threadFileName("B".repeat(97)), hash("B".repeat(97)));
  assert.equal(threadFileName("x".repeat(251)), hash("x".repeat(251)));
  assert.equal(threadFileName("x".repeat(1024)), hash("x".repeat(1024)));
  assert.equal(threadFileName("😀".repeat(1024)), hash("😀".repeat(1024)));
});

Deno.test("the names are those of the Python adapter", () => {
  const recorded: [id: string, name: string][] = [
    ["con.txt", "aguiid~636f6e2e747874"],
    ["a/../b", "aguiid~612f2e2e2f62"],
    ["Thread ü", "aguiid~54687265616420c3bc"],
    ["Ä".repeat(200), "aguihash~aa429dce7ac4a3b243b33d4f656afa098dcb53e55211f3e9489d1aa7d4a5bc69"],
  ];
  for (const [id, name] of recorded) assert.equal(threadFileName(id), `${name}.json`);
});

Deno.test("every id has a name that is safe on every system and its own", () => {
  const id = fc.string({
    unit: fc.oneof(fc.constantFrom(..."aA./\\~ con"), fc.string({ unit: "binary", maxLength: 1 })),
    minLength: 1,
  })
    .filter((text) => text.isWellFormed());
  fc.assert(fc.property(id, id, (a, b) => {
    const [first, second] = [threadFileName(a), threadFileName(b)];
    assert.match(first, /^[a-z0-9_.~-]{1,255}$/);
    assert.ok(first.length <= 255 && !/^\.*$/.test(first.replace(/\.json$/, "")));
    assert.doesNotMatch(first, /^(con|prn|aux|nul|com\d|lpt\d)\./);
    assert.equal(first === second, a === b, "also where a file system ignores case");
  }));
});
