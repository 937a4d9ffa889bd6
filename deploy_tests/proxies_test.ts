import assert from "node:assert/strict";
import { startProgram, urlOf } from "../tests/operations/program.ts";
import { inFolder } from "../tests/support/folders.ts";
import { readEvents } from "../tests/support/run_reader.ts";
import { runInput } from "../tests/support/service_process.ts";
import { type Proxy, startCaddy, startNginx } from "./proxy.ts";

const PROXIES: [string, (folder: string, service: number) => Promise<Proxy>][] = [
  ["nginx", startNginx],
  ["Caddy", startCaddy],
];

for (const [name, start] of PROXIES) {
  Deno.test(`${name}: an event passes at once, a heartbeat too, a large body as well; who leaves is cancelled`, async () => {
    await inFolder(async (folder) => {
      const args = ["--demo", "--port", "0", "--state-dir", `${folder}/state`, "--allowed-cwds", folder];
      await using program = startProgram({ args: [...args, "--heartbeat", "0.1"] });
      await using proxy = await start(folder, Number(new URL(await urlOf(program)).port));
      const post = async (threadId: string, text: string, state: string) => {
        const input = { ...runInput(folder, threadId, "run-1", { text }), state: { padding: state } };
        return await readEvents(
          await fetch(proxy.url, {
            method: "POST",
            body: JSON.stringify(input),
            headers: { "content-type": "application/json" },
            client: proxy.client,
          }),
        );
      };
      const large = await post("thread-1", "hello", "x".repeat(11 * 1024 * 1024));
      assert.equal((await large.last()).type, "RUN_FINISHED");

      const began = performance.now();
      const run = await post("thread-2", "slow, please", "");
      await run.until("RUN_STARTED");
      const toFirst = performance.now() - began;
      await run.until("TEXT_MESSAGE_CONTENT");
      await run.untilComments(3);
      // The whole story takes 15 s.
      assert.ok(performance.now() - began < 3_000, "events pass while the run goes on");
      assert.ok(toFirst < 500, `the first event took ${toFirst} ms`);

      const left = performance.now();
      await run.leave();
      await program.told(/end=CANCELLED by=gone/);
      const toCancel = performance.now() - left;
      assert.ok(toCancel < 1_000, `cancelled ${toCancel} ms after the client left`);
    });
  });
}
