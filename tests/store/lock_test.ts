import assert from "node:assert/strict";
import { lockState } from "../../src/store/lock.ts";
import { inFolder } from "../support/folders.ts";

/** A process that takes the lock of a folder, says so on its output, and then does nothing. */
function holder(folder: string): Deno.ChildProcess {
  const lock = new URL("../../src/store/lock.ts", import.meta.url).href;
  const program = `
    const { lockState } = await import(${JSON.stringify(lock)});
    console.log(await lockState(${JSON.stringify(folder)}) ? "held" : "taken");
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  `;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--no-check", "-A", "--ext=js", `data:text/javascript,${encodeURIComponent(program)}`],
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

Deno.test("a state directory has one holder at a time", () =>
  inFolder(async (folder) => {
    const first = await lockState(folder);
    assert.ok(first);
    assert.equal(await lockState(folder), undefined);
    first.release();
    const second = await lockState(folder);
    assert.ok(second);
    second.release();
  }));

Deno.test("state directories do not share a lock", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/other`);
    const [first, second] = [await lockState(folder), await lockState(`${folder}/other`)];
    assert.ok(first && second);
    first.release();
    second.release();
  }));

Deno.test("a lock of a process that is killed is free again, though its file stays", () =>
  inFolder(async (folder) => {
    const child = holder(folder);
    const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await output.read()).value?.trim(), "held");
    assert.equal(await lockState(folder), undefined);
    child.kill("SIGKILL");
    await child.status;
    await output.cancel();
    const lock = await lockState(folder);
    assert.ok(lock);
    lock.release();
    assert.ok((await Deno.stat(`${folder}/agui.lock`)).isFile);
  }));

Deno.test("a folder that is missing rejects", () =>
  inFolder(async (folder) => {
    await assert.rejects(lockState(`${folder}/missing`), Deno.errors.NotFound);
  }));
