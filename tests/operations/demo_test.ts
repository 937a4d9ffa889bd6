import assert from "node:assert/strict";
import { readEvents } from "../support/run_reader.ts";
import { runProgram, startProgram } from "./program.ts";

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

Deno.test("the demo tells its flags when it is asked, or given another one", async () => {
  for (const [args, code] of [[["--help"], 0], [["-h"], 0], [["--twice"], 2], [["word"], 2]] as const) {
    const { code: ended, output } = await runProgram({ script: "demo/main.ts", args });
    assert.equal(ended, code, args.join());
    assert.match(output, /^usage: deno task demo \[--once\] \[--port PORT\]\n/);
  }
});

Deno.test("the demo takes the port that it is given, or says why not", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const script = "demo/main.ts";
  const taken = await runProgram({ script, args: ["--once", "--port", String(port)] });
  assert.match(taken.output, /^Address already in use: 127\.0\.0\.1:\d+\./);
  assert.equal(taken.code, 2);
  listener.close();
  const { code, output } = await runProgram({ script, args: ["--once", `--port=${port}`] });
  assert.equal(code, 0);
  assert.ok(output.includes(`http://127.0.0.1:${port}`), output);
  const wrong = await runProgram({ script, args: ["--port", "many"] });
  assert.deepEqual([wrong.code, wrong.output], [2, "--port must be a port from 0 to 65535.\n"]);
});
