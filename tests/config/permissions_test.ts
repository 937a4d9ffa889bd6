import assert from "node:assert/strict";
import { readCommandLine } from "../../src/config/command_line.ts";
import { missing, needsOf, runNeed } from "../../src/config/permissions.ts";
import { readConfiguration } from "../../src/config/read.ts";
import { surroundings } from "./surroundings.ts";

const PATHS = ["--state-dir", "/state", "--allowed-cwds", "/work:/more,work"];

/** The sentences of a process that was granted nothing. */
async function told(args: string[], compiled = false): Promise<string[]> {
  const { settings } = await readConfiguration(readCommandLine([...PATHS, ...args]), surroundings());
  return missing(needsOf(settings), () => false, compiled);
}

Deno.test("each need that is not met names the path or host and the flag to add", async () => {
  assert.deepEqual(await told(["--a2a-url", "http://127.0.0.1:41242"]), [
    "Permission missing: may not listen on 127.0.0.1:8000. Add --allow-net=127.0.0.1:8000.",
    "Permission missing: may not reach the kernel at 127.0.0.1:41242. Add --allow-net=127.0.0.1:41242.",
    "Permission missing: may not read the state directory /state. Add --allow-read=/state.",
    "Permission missing: may not write the state directory /state. Add --allow-write=/state.",
    "Permission missing: may not read the workspace root /work. Add --allow-read=/work.",
    "Permission missing: may not read the workspace root /more,work. Add --allow-read=/more,,work.",
  ]);
});

Deno.test("the kernel's host and port are those that its requests go to", async () => {
  const kernel = async (...args: string[]) => (await told(args))[1]?.split(" Add ")[1];
  assert.equal(await kernel("--a2a-url", "http://[::1]:41242"), "--allow-net=[::1]:41242.");
  assert.equal(await kernel("--a2a-url", "http://localhost"), "--allow-net=localhost:80.");
  assert.equal(
    await kernel("--a2a-url", "https://kernel.example", "--allow-remote-a2a"),
    "--allow-net=kernel.example:443.",
  );
  assert.equal(await kernel(), "--allow-net=127.0.0.1.");
  assert.equal(await kernel("--demo"), "--allow-net=127.0.0.1.");
  assert.equal(await kernel("--kernel-port", "41243"), "--allow-net=127.0.0.1:41243.");
});

Deno.test("an executable's permissions are fixed, so its owner is told to make another one", async () => {
  const [first] = await told([], true);
  assert.match(
    first ?? "",
    /may not listen on 127\.0\.0\.1:8000\. Make an executable with --allow-net=127\.0\.0\.1:8000/,
  );
});

Deno.test("what is granted is not told", async () => {
  const { settings } = await readConfiguration(readCommandLine(PATHS), surroundings());
  assert.deepEqual(missing(needsOf(settings), () => true), []);
  assert.deepEqual(missing(needsOf(settings), ({ name }) => name !== "write", false), [
    "Permission missing: may not write the state directory /state. Add --allow-write=/state.",
  ]);
});

Deno.test("starting a kernel needs its command, not its arguments", () => {
  assert.deepEqual(missing([runNeed(["uv", "run", "iac-code"])], () => false, false), [
    "Permission missing: may not start uv. Add --allow-run=uv.",
  ]);
});
