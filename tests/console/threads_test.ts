import assert from "node:assert/strict";
import { forgetThread, keepThread, readThreads } from "../../console/threads.ts";

/** The two methods of a Storage that the page uses. */
function memory(kept?: string): Storage & { readonly kept: Map<string, string> } {
  const map = new Map<string, string>(kept === undefined ? [] : [["iac-code-agui.threads", kept]]);
  const storage: Pick<Storage, "getItem" | "setItem"> = {
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => void map.set(key, value),
  };
  return Object.assign(storage as Storage, { kept: map });
}

Deno.test("a new thread stands first; a known one keeps its place", () => {
  const storage = memory();
  keepThread(storage, { id: "a", waiting: [] });
  keepThread(storage, { id: "b", waiting: [] });
  keepThread(storage, { id: "a", waiting: ["i"] });
  assert.deepEqual(readThreads(storage), [{ id: "b", waiting: [] }, { id: "a", waiting: ["i"] }]);
  assert.deepEqual(forgetThread(storage, "b"), [{ id: "a", waiting: ["i"] }]);
});

Deno.test("nothing but ids is kept", () => {
  const storage = memory();
  keepThread(storage, { id: "a", waiting: ["i"] });
  assert.deepEqual([...storage.kept.values()], ['[{"id":"a","waiting":["i"]}]']);
});

Deno.test("the list has an end", () => {
  const storage = memory();
  for (let at = 0; at < 60; at++) keepThread(storage, { id: `${at}`, waiting: [] });
  const threads = readThreads(storage);
  assert.deepEqual([threads.length, threads[0]?.id, threads.at(-1)?.id], [50, "59", "10"]);
});

Deno.test("what somebody else has put there is passed over", () => {
  for (const kept of ["{", "null", "{}", '[1,null,{},{"id":7}]']) assert.deepEqual(readThreads(memory(kept)), []);
  assert.deepEqual(readThreads(memory('[{"id":"a","waiting":[1,"i"]}]')), [{ id: "a", waiting: ["i"] }]);
});
