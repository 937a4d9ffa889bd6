import assert from "node:assert/strict";
import { inFolder } from "../support/folders.ts";
import { runProgram, startProgram, urlOf } from "./program.ts";

/** What a newcomer sees: one line, and exit code 2. */
async function refused(args: readonly string[], told: RegExp, env: Record<string, string> = {}): Promise<void> {
  const { code, output } = await runProgram({ args, env });
  assert.match(output, told);
  assert.equal(output.split("\n").length, 2, `one line: ${output}`);
  assert.equal(code, 2);
}

Deno.test("an unknown flag, a bad URL, a bad config file: one line each, exit code 2", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/agui.yaml`, "port: 8000\nprot: 1\n");
    await refused(["--prot", "1"], /^iac-code-agui: Unknown option '--prot'\. See --help\.$/m);
    await refused(["--a2a-url", "localhost"], /^iac-code-agui: --a2a-url must be an http or https URL/m);
    await refused(["--port", "-1"], /^iac-code-agui: --port must be a port from 0 to 65535\.$/m);
    await refused(
      ["--interrupt-ttl", "-0.5"],
      /^iac-code-agui: --interrupt-ttl must be a number of seconds, 0 or more/m,
    );
    await refused(
      ["--allow-origin", "app.example"],
      /^iac-code-agui: --allow-origin must be origins as browsers send them/m,
    );
    await refused(["--config", `${folder}/agui.yaml`], /agui\.yaml:2: prot is not a known option\.$/m);
  });
});

Deno.test("a port that somebody else has is one line, exit code 2", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = String(listener.addr.port);
  await inFolder((folder) =>
    refused(
      ["--port", port, "--a2a-url", "http://127.0.0.1:1", "--state-dir", folder],
      new RegExp(`Address already in use: 127\\.0\\.0\\.1:${port}\\. Choose another port with --port\\.$`, "m"),
    )
  );
});

Deno.test("a state directory that is a file, or below one, is one line, exit code 2", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/file`, "");
    for (const at of [`${folder}/file`, `${folder}/file/state`]) {
      await refused(
        ["--port", "0", "--a2a-url", "http://127.0.0.1:1", "--state-dir", at],
        /The state directory \S+ cannot be written \(\w+( \w+)?\)\. Name another one with --state-dir\.$/m,
      );
    }
  });
});

Deno.test("a second process on a state directory is one line, exit code 2; the first goes on", async () => {
  await inFolder(async (folder) => {
    const args = ["--port", "0", "--a2a-url", "http://127.0.0.1:1", "--state-dir", folder];
    await using first = startProgram({ args });
    const url = await urlOf(first);
    await refused(args, /Another process uses the state directory \S+\. Name another one with --state-dir\.$/m);
    const health = await fetch(`${url}/health`);
    assert.equal((await health.json()).status, "ok");
    first.signal("SIGTERM");
    assert.equal(await first.ended, 0);
    await using next = startProgram({ args });
    await urlOf(next);
  });
});

Deno.test("--version, --help and --print-config tell what they are asked for, exit code 0", async () => {
  const version = await runProgram({ args: ["--version"] });
  assert.match(version.output, /^iac-code-agui \d+\.\d+\.\d+\n$/);
  const help = await runProgram({ args: ["--help"] });
  assert.match(help.output, /--idle-shutdown SECONDS/);
  const config = await runProgram({ args: ["--print-config"], env: { "IAC_CODE_AGUI_AUTH_TOKEN": "S3cret" } });
  assert.match(config.output, /^# auth_token: \(hidden\) +# environment: IAC_CODE_AGUI_AUTH_TOKEN$/m);
  assert.ok(!config.output.includes("S3cret"));
  assert.deepEqual([version.code, help.code, config.code], [0, 0, 0]);
});

Deno.test("the log goes to standard error, and with --log-stdout to standard output", async () => {
  await inFolder(async (folder) => {
    const args = ["--port", "0", "--a2a-url", "http://127.0.0.1:1", "--state-dir", folder];
    await using quiet = startProgram({ args });
    await urlOf(quiet);
    quiet.signal("SIGTERM");
    assert.equal(await quiet.ended, 0);
    assert.equal(quiet.standardOutput(), "");

    await using program = startProgram({ args: [...args, "--log-stdout"] });
    await urlOf(program);
    program.signal("SIGTERM");
    assert.equal(await program.ended, 0);
    assert.match(program.standardOutput(), /listening/);
    assert.equal(program.output(), program.standardOutput());
  });
});

Deno.test("whoever reads no further makes no error of it", async () => {
  for (const script of ["main.ts", "demo/main.ts"]) {
    const program = new URL(`../../${script}`, import.meta.url).pathname;
    const line = `("$0" run -A --no-prompt --quiet "${program}" --help; echo "exit $?" >&2) | true`;
    const { stderr } = await new Deno.Command("sh", { args: ["-c", line, Deno.execPath()] }).output();
    assert.equal(new TextDecoder().decode(stderr), "exit 0\n");
  }
});
