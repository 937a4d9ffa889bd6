/** The stories tell all that was recorded. */
import assert from "node:assert/strict";
import { wireNames } from "../support/wires.ts";

Deno.test("every recorded wire is told by a story", async () => {
  const stories: string[] = [];
  for await (const { name } of Deno.readDir(new URL(".", import.meta.url))) {
    stories.push(await Deno.readTextFile(new URL(name, import.meta.url)));
  }
  const untold = wireNames().filter((name) => !stories.some((story) => story.includes(`"${name}"`)));
  assert.deepEqual(untold, []);
});
