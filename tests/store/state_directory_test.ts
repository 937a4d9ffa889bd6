import assert from "node:assert/strict";
import { StartFailure } from "../../src/start_failure.ts";
import { lockState } from "../../src/store/lock.ts";
import { makeStateDirectory } from "../../src/store/state_directory.ts";
import { inFolder } from "../support/folders.ts";

async function refused(stateDir: string, told: RegExp): Promise<void> {
  await assert.rejects(makeStateDirectory(stateDir), (error) => {
    assert.ok(error instanceof StartFailure);
    assert.equal(error.lines.length, 1);
    assert.match(error.message, told);
    assert.match(error.message, /--state-dir\.$/);
    return true;
  });
}

async function look(path: string): Promise<string> {
  const names = (await Array.fromAsync(Deno.readDir(path), ({ name }) => name)).sort().join(" ");
  return `${((await Deno.stat(path)).mode ?? 0).toString(8)} ${names}`;
}

Deno.test("a directory that is everybody's is refused and left as it is", () =>
  inFolder(async (parent) => {
    const shared = `${parent}/shared`;
    await Deno.mkdir(shared);
    await Deno.chmod(shared, 0o1777);
    await Deno.symlink("/", `${parent}/link`);
    const before = await Promise.all(["/", shared].map(look));
    await refused("/", /^The state directory \/ is the root of the file system\./);
    await refused(`${shared}/..//shared/../../../../../..`, /is the root of the file system\./);
    await refused(`${parent}/link`, /is the root of the file system\./);
    await refused(shared, /is shared by all users\./);
    assert.deepEqual(await Promise.all(["/", shared].map(look)), before);
  }));

Deno.test("one with other things in it keeps its mode, and what is ours in it is closed", () =>
  inFolder(async (home) => {
    await Deno.mkdir(`${home}/documents`);
    await Deno.chmod(home, 0o755);
    for (const start of ["first", "second"]) {
      await makeStateDirectory(home);
      assert.equal(await look(home), "40755 documents threads", `${start} start`);
    }
    assert.equal(await look(`${home}/threads`), "40700 ");
  }));

Deno.test("one that is empty, freshly formatted, or was one before is taken", () =>
  inFolder(async (parent) => {
    for (const [name, ...inside] of [["empty"], ["fresh", "lost+found"], ["used", "threads", "notes"]]) {
      for (const at of ["", ...inside]) await Deno.mkdir(`${parent}/${name}/${at}`, { recursive: true });
      assert.equal(await makeStateDirectory(`${parent}/${name}`), `${parent}/${name}/threads`);
    }
    await Deno.remove(`${parent}/empty/threads`);
    (await lockState(`${parent}/empty`))?.release();
    await Deno.writeTextFile(`${parent}/empty/notes`, "x");
    await makeStateDirectory(`${parent}/empty`);
    await Deno.symlink("used", `${parent}/link`);
    assert.equal(await makeStateDirectory(`${parent}/link`), `${parent}/link/threads`, "an operator may link to it");
  }));

Deno.test("a link where a file of ours has to be is refused, and nothing is made where it points", () =>
  inFolder(async (parent) => {
    await Deno.mkdir(`${parent}/elsewhere`);
    for (const [at, name] of ["agui.lock", "threads", "older-runs"].entries()) {
      for (const to of ["elsewhere", "missing"]) {
        const stateDir = `${parent}/${at}-${to}`;
        await Deno.mkdir(stateDir);
        await Deno.symlink(`${parent}/${to}`, `${stateDir}/${name}`);
        await refused(stateDir, new RegExp(`^${name} in the state directory .* is a link\\.`));
      }
    }
    assert.deepEqual(await Array.fromAsync(Deno.readDir(`${parent}/elsewhere`)), []);
    await assert.rejects(Deno.lstat(`${parent}/missing`), Deno.errors.NotFound);
  }));
