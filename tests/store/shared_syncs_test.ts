import assert from "node:assert/strict";
import { sharedSyncs } from "../../src/store/shared_syncs.ts";

/** Folders that are opened under a path and share; each sync is ended by hand. */
function folders() {
  const share = sharedSyncs();
  const begun: (PromiseWithResolvers<void> & { by: string })[] = [];
  const open = (by: string, path = "/state") =>
    share(path, {
      sync() {
        const turn = { ...Promise.withResolvers<void>(), by };
        begun.push(turn);
        return turn.promise;
      },
      close() {},
    });
  return { open, begun, by: () => begun.map((turn) => turn.by) };
}

Deno.test("whoever comes while a folder is synced shares the sync after it, and waits for it", async () => {
  const { open, begun, by } = folders();
  const done: string[] = [];
  const sync = (name: string) => open(name).sync().then(() => void done.push(name));
  const all = ["a", "b", "c"].map(sync);
  assert.deepEqual(by(), ["a"]);
  begun[0]?.resolve();
  await all[0];
  assert.deepEqual(by(), ["a", "b"]);
  assert.deepEqual(done, ["a"]);
  const later = sync("d");
  begun[1]?.resolve();
  await Promise.all(all);
  assert.deepEqual([by(), done], [["a", "b", "d"], ["a", "b", "c"]]);
  begun[2]?.resolve();
  await later;
});

Deno.test("a sync that fails fails for all who share it, and for nobody after them", async () => {
  const { open, begun, by } = folders();
  const first = open("a").sync();
  const shared = [open("b").sync(), open("c").sync()];
  begun[0]?.reject(new Error("the disk is gone"));
  await assert.rejects(first, /the disk is gone/);
  assert.deepEqual(by(), ["a", "b"]);
  begun[1]?.reject(new Error("still gone"));
  for (const sync of shared) await assert.rejects(sync, /still gone/);
  const after = open("d").sync();
  assert.deepEqual(by(), ["a", "b", "d"]);
  begun[2]?.resolve();
  await after;
});

Deno.test("folders under different paths do not wait for each other", async () => {
  const { open, begun, by } = folders();
  const both = [open("a", "/threads").sync(), open("b", "/older-runs").sync()];
  assert.deepEqual(by(), ["a", "b"]);
  for (const turn of begun) turn.resolve();
  await Promise.all(both);
});
