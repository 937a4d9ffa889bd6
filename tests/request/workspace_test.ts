import assert from "node:assert/strict";
import { createWorkspace, openRoots, resolveRoots, resolveWorkspace } from "../../src/request/workspace.ts";
import type { Refusal } from "../../src/errors.ts";
import { inFolder } from "../support/folders.ts";

/** The resolved workspace after it was created, or the sentence of its refusal. */
async function resolved(cwd: string, ...roots: string[]): Promise<string> {
  const found = await resolveWorkspace(cwd, roots);
  const made = typeof found === "string" ? await createWorkspace(found) : found;
  if (typeof found === "string" && "undo" in made) return found;
  assert.ok("code" in made);
  return sentenceOf(made);
}

function sentenceOf(found: Refusal): string {
  assert.equal(found.code, "INVALID_INPUT");
  assert.deepEqual(found.params, { field: "forwardedProps.iacCode.cwd" });
  return found.message ?? "";
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("a root, and what lies in it, is a workspace", () =>
  inFolder(async (root) => {
    await Deno.mkdir(`${root}/a/b`, { recursive: true });
    for (const cwd of [root, `${root}/`, `${root}/a`, `${root}/a/b`, `${root}//a/./b/`, `${root}/a/../a/b`]) {
      const real = await resolved(cwd, root);
      assert.equal(real, await Deno.realPath(cwd));
    }
  }));

Deno.test("a missing workspace is created, with all that is missing above it", () =>
  inFolder(async (root) => {
    assert.equal(await resolved(`${root}/new/../new/deep/ü 😀`, root), `${root}/new/deep/ü 😀`);
    assert.ok((await Deno.stat(`${root}/new/deep/ü 😀`)).isDirectory);
  }));

Deno.test("a path that is not absolute is refused, and nothing is expanded", () =>
  inFolder(async (root) => {
    for (const cwd of ["", ".", "..", "work", "./work", "~", "~/x", "$HOME/x", "a/b", "file:///tmp", `${root}/a\0b`]) {
      assert.equal(await resolved(cwd, root, Deno.cwd()), "cwdNotAbsolute", JSON.stringify(cwd));
    }
    assert.equal(await resolved(`${root}/~`, root), `${root}/~`);
    assert.equal(await resolved(`${root}/$HOME`, root), `${root}/$HOME`);
  }));

Deno.test("a path outside of every root is refused and not created", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/work`);
    await Deno.mkdir(`${folder}/workspace`);
    const root = `${folder}/work`;
    const outside = [
      folder,
      "/",
      `${folder}/workspace`,
      `${folder}/work2/x`,
      `${root}/..`,
      `${root}/../other`,
      `${root}/a/../../other`,
      `${root}/..hidden/../../other`,
    ];
    for (const cwd of outside) {
      assert.equal(await resolved(cwd, root), "cwdOutside", cwd);
      assert.equal(await resolved(cwd), "cwdOutside", "no root at all");
    }
    assert.equal(await exists(`${folder}/other`), false);
    assert.equal(await exists(`${folder}/work2`), false);
    assert.equal(await resolved(`${root}/..hidden`, root), `${root}/..hidden`);
  }));

Deno.test("any of several roots lets a workspace in", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/a`);
    await Deno.mkdir(`${folder}/b`);
    assert.equal(await resolved(`${folder}/b/x`, `${folder}/a`, `${folder}/b`), `${folder}/b/x`);
    assert.equal(await resolved("/", "/"), "/");
  }));

Deno.test("a link is followed: it counts where it leads", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/root/real`, { recursive: true });
    await Deno.mkdir(`${folder}/outside`);
    await Deno.symlink("real", `${folder}/root/in`);
    await Deno.symlink(`${folder}/outside`, `${folder}/root/out`);
    await Deno.symlink(`${folder}/root`, `${folder}/door`);
    const root = `${folder}/root`;
    assert.equal(await resolved(`${root}/in`, root), `${root}/real`);
    assert.equal(await resolved(`${root}/in/new`, root), `${root}/real/new`);
    assert.equal(await resolved(`${folder}/door/real`, root), `${root}/real`);
    assert.equal(await resolved(`${root}/out`, root), "cwdOutside");
    assert.equal(await resolved(`${root}/out/new/deep`, root), "cwdOutside");
    assert.equal(await exists(`${folder}/outside/new`), false);
    assert.equal(await resolved(`${root}/out/../real`, root), `${root}/real`, "`..` takes back a name, not a step");
  }));

Deno.test("a link that leads nowhere, or in a circle, is no workspace", () =>
  inFolder(async (root) => {
    await Deno.symlink(`${root}/missing`, `${root}/dangling`);
    await Deno.symlink("/elsewhere-that-is-missing", `${root}/dangling-out`);
    await Deno.symlink("circle", `${root}/circle`);
    for (const cwd of ["dangling", "dangling/x", "dangling-out", "dangling-out/x", "circle", "circle/x"]) {
      assert.equal(await resolved(`${root}/${cwd}`, root), "cwdNotDirectory", cwd);
    }
    assert.equal(await exists(`${root}/missing`), false);
  }));

Deno.test("a file, or something below a file, is no workspace", () =>
  inFolder(async (root) => {
    await Deno.writeTextFile(`${root}/file`, "x");
    await Deno.symlink("file", `${root}/link`);
    for (const cwd of ["file", "file/x", "file/x/y", "link", "link/x"]) {
      assert.equal(await resolved(`${root}/${cwd}`, root), "cwdNotDirectory", cwd);
    }
    assert.equal(await Deno.readTextFile(`${root}/file`), "x");
  }));

Deno.test("a name that is too long for the system is no workspace", () =>
  inFolder(async (root) => {
    assert.equal(await resolved(`${root}/${"x".repeat(300)}`, root), "cwdNotDirectory");
    assert.equal(await resolved(`${root}${"/x".repeat(8000)}`, root), "cwdNotDirectory");
    assert.equal(await exists(`${root}/x`), false);
  }));

Deno.test("roots count as they are behind their links; those that are missing let nothing in", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/real`);
    await Deno.symlink("real", `${folder}/root`);
    await Deno.symlink("nowhere", `${folder}/dangling`);
    const roots = await resolveRoots([`${folder}/root`, `${folder}/missing`, `${folder}/dangling`, ""]);
    assert.deepEqual(roots, [`${folder}/real`]);
    assert.equal(await resolved(`${folder}/root/x`, ...roots), `${folder}/real/x`);
  }));

Deno.test("a root that is made later counts from then on", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/early`);
    const roots = await openRoots([`${folder}/early`, `${folder}/late`]);
    assert.deepEqual(await roots(), [`${folder}/early`]);
    await Deno.mkdir(`${folder}/late`);
    assert.deepEqual(await roots(), [`${folder}/early`, `${folder}/late`]);
  }));

Deno.test("resolving creates nothing; what a run created can be taken back, unless it is in use", () =>
  inFolder(async (root) => {
    const found = await resolveWorkspace(`${root}/a/b/c`, [root]);
    assert.equal(found, `${root}/a/b/c`);
    assert.equal(await exists(`${root}/a`), false);
    const made = await createWorkspace(`${root}/a/b/c`);
    assert.ok("undo" in made);
    await Deno.writeTextFile(`${root}/a/used`, "x");
    await made.undo();
    assert.deepEqual(await Array.fromAsync(Deno.readDir(`${root}/a`), ({ name }) => name), ["used"]);
    const again = await createWorkspace(`${root}/a`);
    assert.ok("undo" in again);
    await again.undo();
    assert.ok(await exists(`${root}/a/used`), "one that was there before stays");
  }));

Deno.test("a link that is put on the way between check and creation leads nowhere", () =>
  inFolder(async (folder) => {
    const [root, outside] = [`${folder}/root`, `${folder}/outside`];
    await Deno.mkdir(`${root}/a`, { recursive: true });
    await Deno.mkdir(outside);
    for (const cwd of [`${root}/a/b`, `${root}/a/b/c/d`, `${root}/a`]) {
      const found = await resolveWorkspace(cwd, [root]);
      assert.equal(found, cwd);
      await Deno.rename(`${root}/a`, `${root}/kept`);
      await Deno.symlink(outside, `${root}/a`);
      const made = await createWorkspace(cwd);
      assert.ok("code" in made, cwd);
      assert.equal(sentenceOf(made), "cwdOutside");
      assert.deepEqual(await Array.fromAsync(Deno.readDir(outside)), [], "nothing is left outside");
      await Deno.remove(`${root}/a`);
      await Deno.rename(`${root}/kept`, `${root}/a`);
    }
  }));

Deno.test("a link that comes and goes while workspaces are created never makes one outside", () =>
  inFolder(async (folder) => {
    const [root, outside] = [`${folder}/root`, `${folder}/outside`];
    await Deno.mkdir(`${root}/a`, { recursive: true });
    await Deno.mkdir(outside);
    let over = false;
    const swapping = (async () => {
      while (!over) {
        try {
          await Deno.symlink(outside, `${root}/link`);
          await Deno.rename(`${root}/a`, `${root}/kept`);
          await Deno.rename(`${root}/link`, `${root}/a`);
          await Deno.remove(`${root}/a`);
          await Deno.rename(`${root}/kept`, `${root}/a`);
        } catch {
          // The service made the directory in the moment without one.
          for (const name of ["a", "link", "kept"]) {
            await Deno.remove(`${root}/${name}`, { recursive: true }).catch(() => 0);
          }
          await Deno.mkdir(`${root}/a`, { recursive: true });
        }
      }
    })();
    for (let round = 0; round < 200; round++) {
      const found = await resolveWorkspace(`${root}/a/${round}/deep`, [root]);
      if (typeof found !== "string") continue;
      const made = await createWorkspace(found);
      if ("code" in made) continue;
      assert.equal(await exists(`${outside}/${round}/deep`), false, "what was taken for a workspace is not outside");
    }
    over = true;
    await swapping;
    for await (const { name } of Deno.readDir(outside)) {
      const inner = await Array.fromAsync(Deno.readDir(`${outside}/${name}`));
      assert.deepEqual(inner, [], "at most one empty directory, of a run that was refused");
    }
  }));
