import assert from "node:assert/strict";
import { startDemoKernel } from "../../demo/kernel.ts";
import { inFolder } from "../support/folders.ts";
import { runProgram, startProgram, urlOf } from "./program.ts";

/** The doctor's lines by check, without their padding. */
async function examine(
  folder: string,
  kernel: { url: string; token?: string },
  more: { args?: string[]; permissions?: string[] } = {},
): Promise<{ code: number; of: (check: string) => string[]; problems: string[] }> {
  const { code, output } = await runProgram({
    args: ["doctor", "--port", "0", "--a2a-url", kernel.url, "--state-dir", `${folder}/state`, ...more.args ?? []],
    env: {
      "IAC_CODE_AGUI_ALLOWED_CWDS": folder,
      ...(kernel.token !== undefined && { "IAC_CODE_AGUI_A2A_TOKEN": kernel.token }),
    },
    ...(more.permissions && { permissions: more.permissions }),
  });
  const rows = output.trimEnd().split("\n").map((line) =>
    /^(ok|PROBLEM) +(\w+) +(.*)$/.exec(line) ?? assert.fail(output)
  );
  return {
    code,
    of: (check) => rows.filter((row) => row[2] === check).map(([, verdict, , text]) => `${verdict}: ${text}`),
    problems: rows.filter((row) => row[1] === "PROBLEM").map(([, , check, text]) => `${check}: ${text}`),
  };
}

Deno.test("all is well: a line for each check, exit code 0, and nothing is left behind", async () => {
  const kernel = startDemoKernel({ pace: 0 });
  try {
    await inFolder(async (folder) => {
      const { code, of, problems } = await examine(folder, kernel);
      assert.deepEqual(problems, []);
      assert.equal(code, 0);
      assert.deepEqual(of("permissions"), ["ok: all 5 that are needed"]);
      assert.match(of("state")[0] ?? "", /^ok: \S+\/state: a file is written and synced in \d+ ms$/);
      assert.deepEqual(of("state").slice(1), [`ok: ${folder}/state: free, keeps locks`]);
      assert.deepEqual(of("workspaces"), [`ok: ${folder}: workspaces can be created`]);
      assert.deepEqual(of("address"), ["ok: 127.0.0.1:0: free"]);
      assert.deepEqual(of("kernel"), [
        `ok: ${kernel.url}: a kernel answers`,
        `ok: ${kernel.url}: GetTask is answered, the token is accepted`,
      ]);
      assert.match(of("clock").join(), /^ok: \d{4}-\d\d-\d\dT/);
      assert.deepEqual(await Array.fromAsync(Deno.readDir(`${folder}/state/threads`)), []);
    });
  } finally {
    await kernel.close();
  }
});

Deno.test("beside a service that runs, its lock and its address are no problem", async () => {
  await inFolder(async (folder) => {
    const args = ["--port", "0", "--state-dir", `${folder}/state`, "--demo"];
    await using program = startProgram({ args, env: { "IAC_CODE_AGUI_ALLOWED_CWDS": folder } });
    const { port } = new URL(await urlOf(program));
    const [, url = ""] = await program.told(/demo kernel\S* nothing is executed url=(\S+)/);
    const { of } = await examine(folder, { url, token: "wrong" }, { args: ["--port", port] });
    assert.deepEqual(of("state").slice(1), [`ok: ${folder}/state: locked by a service that runs`]);
    assert.match(of("address").join(), /^ok: \S+: iac-code-agui \S+ serves there$/);
    assert.match(of("kernel").join(), /^PROBLEM: \S+: the token is refused; IAC_CODE_AGUI_A2A_TOKEN has to be/);
  });
});

Deno.test("every problem is found in one go, exit code 1", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/state`, "");
    const { code, problems } = await examine(folder, { url: "http://127.0.0.1:1" }, {
      args: ["--allowed-cwds", `${folder}/none:${folder}/state`, "--host", "127.0.0.1"],
    });
    assert.equal(code, 1);
    assert.deepEqual(problems, [
      "state: failed (AlreadyExists EEXIST)",
      `workspaces: ${folder}/none: does not exist, or may not be read`,
      `workspaces: ${folder}/state: is no directory`,
      "kernel: http://127.0.0.1:1: nothing answers there",
    ]);
  });
});

Deno.test("what is no kernel is told, and who else has the address", async () => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("<html>", { status: 502 }),
  );
  try {
    await inFolder(async (folder) => {
      const url = `http://127.0.0.1:${server.addr.port}`;
      const { problems } = await examine(folder, { url }, { args: ["--port", String(server.addr.port)] });
      assert.deepEqual(problems, [
        `address: 127.0.0.1:${server.addr.port}: in use`,
        `kernel: ${url}: GET /health is answered with HTTP 502`,
      ]);
    });
  } finally {
    await server.shutdown();
  }
});

Deno.test("missing permissions are told with their flags", async () => {
  const kernel = startDemoKernel({ pace: 0 });
  try {
    await inFolder(async (folder) => {
      const permissions = ["--allow-env", `--allow-net=127.0.0.1`, `--allow-read=${folder}`];
      const { code, problems } = await examine(folder, kernel, { permissions });
      assert.equal(code, 1);
      assert.equal(
        problems[0],
        `permissions: Permission missing: may not write the state directory ${folder}/state. ` +
          `Add --allow-write=${folder}/state.`,
      );
    });
  } finally {
    await kernel.close();
  }
});

Deno.test("a kernel that would be started is started for the check, and ended", async () => {
  await inFolder(async (folder) => {
    const standIn = new URL("kernel_program.ts", import.meta.url).pathname;
    const command = `${Deno.execPath()} run -A --no-prompt --quiet ${standIn}`;
    const args = ["doctor", "--port", "0", "--state-dir", folder, "--kernel-command", command];
    const env = { "IAC_CODE_AGUI_ALLOWED_CWDS": folder };
    const well = await runProgram({ args, env });
    assert.match(well.output, /^ok +kernel +\S+: GetTask is answered, the token is accepted$/m);
    assert.equal(well.code, 0);
    {
      await using program = startProgram({ args: args.slice(1), env });
      await urlOf(program);
      const beside = await runProgram({ args, env });
      assert.match(beside.output, /^ok +kernel +one of the service's own; its log tells of it$/m);
      assert.equal(beside.code, 0);
    }
    const dead = await runProgram({ args, env: { ...env, "STAND_IN": "dies" } });
    assert.match(
      dead.output,
      /^PROBLEM +kernel +The kernel did not start: .* Its last line: "no model is configured"$/m,
    );
    assert.equal(dead.code, 1);
  });
});
