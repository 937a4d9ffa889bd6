import assert from "node:assert/strict";
import { readEvents } from "../support/run_reader.ts";
import { startProgram } from "./program.ts";

Deno.test("two demos at once find ports of their own, hold their conversation, and need nothing to be set", async () => {
  // What is set for the service does not count.
  const env = {
    "IAC_CODE_AGUI_A2A_URL": "http://127.0.0.1:1",
    "IAC_CODE_AGUI_AUTH_TOKEN": "t",
    "IAC_CODE_AGUI_PORT": "x",
  };
  await using once = startProgram({ script: "demo/main.ts", args: ["--once"], env });
  await using stays = startProgram({ script: "demo/main.ts", env });
  const [, first] = await once.told(/demo kernel: (http:\S+)/);
  const [, second] = await stays.told(/demo kernel: (http:\S+)/);
  assert.notEqual(first, second);

  assert.equal(await once.ended, 0);
  for (const shown of ["TOOL_CALL_RESULT", "You: allow once", "RUN_FINISHED", "That was the example."]) {
    assert.ok(once.output().includes(shown), shown);
  }
  assert.ok(!once.output().includes("\x1b"), "no colour where nobody looks");

  const [, url = "", body = ""] = await stays.told(/^curl -N (\S+) -H 'Content-Type: application\/json' -d '(.*)'$/m);
  assert.equal(url, `${second}/`);
  const response = await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } });
  const run = await readEvents(response);
  assert.equal((await run.last()).type, "RUN_FINISHED");
  assert.match(run.text(), /Write one of these words/);

  const { cwd } = JSON.parse(body).forwardedProps.iacCode;
  assert.ok((await Deno.stat(cwd)).isDirectory);
  stays.signal("SIGINT");
  assert.equal(await stays.ended, 0);
  await assert.rejects(Deno.stat(cwd), Deno.errors.NotFound, "nothing is left behind");
});

Deno.test("an unknown flag of the demo is refused with its usage", async () => {
  await using program = startProgram({ script: "demo/main.ts", args: ["--twice"] });
  assert.equal(await program.ended, 2);
  assert.equal(program.output(), "usage: deno task demo [--once]\n");
});
