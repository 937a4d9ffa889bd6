import assert from "node:assert/strict";
import { readCommandLine } from "../../src/config/command_line.ts";
import { printConfig } from "../../src/config/print_config.ts";
import { readConfiguration } from "../../src/config/read.ts";
import type { Settings } from "../../src/config/settings.ts";
import { StartFailure } from "../../src/start_failure.ts";
import { type Given, surroundings } from "./surroundings.ts";

const HERE: Given = { cwd: "/here", env: { HOME: "/home/me" } };

async function configure(args: string[], given: Given = HERE) {
  return await readConfiguration(readCommandLine(args), surroundings(given));
}

async function settings(args: string[], given: Given = HERE): Promise<Settings> {
  return (await configure(args, given)).settings;
}

async function refused(args: string[], given: Given = HERE): Promise<readonly string[]> {
  try {
    await configure(args, given);
  } catch (error) {
    if (error instanceof StartFailure) {
      assert.equal(error.exitCode, 2);
      return error.lines;
    }
    throw error;
  }
  return [];
}

Deno.test("without options: loopback, port 8000, state below the home directory, a kernel of its own", async () => {
  const made = await settings([]);
  assert.deepEqual(
    { ...made },
    {
      ...made,
      host: "127.0.0.1",
      port: 8000,
      a2aUrl: undefined,
      stateDir: "/home/me/.iac-code/agui",
      roots: ["/here", "/tmp"],
      heartbeatMs: 15_000,
      interruptTtlMs: 540_000,
      idleShutdownMs: 0,
      kernelCommand: ["iac-code"],
      demo: false,
    },
  );
});

Deno.test("the state directory follows iac-code's config directory; a demo has one of its own", async () => {
  const env = { HOME: "/home/me", IAC_CODE_CONFIG_DIR: "/etc/iac", TMPDIR: "/var/tmp" };
  assert.equal((await settings([], { ...HERE, env })).stateDir, "/etc/iac/agui");
  assert.equal((await settings(["--demo"], { ...HERE, env })).stateDir, "/etc/iac/agui-demo");
  assert.equal((await settings(["--state-dir", "/s"], { ...HERE, env })).stateDir, "/s");
  assert.deepEqual((await settings([], { ...HERE, env })).roots, ["/here", "/var/tmp"]);
});

Deno.test("Windows keeps its own names", async () => {
  const given = { windows: true, cwd: "C:\\here", env: { USERPROFILE: "C:\\Users\\me", TEMP: "C:\\Temp" } };
  const made = await settings([], given);
  assert.equal(made.stateDir, "C:\\Users\\me/.iac-code/agui");
  assert.deepEqual(made.roots, ["C:\\here", "C:\\Temp"]);
  assert.deepEqual((await settings(["--allowed-cwds", "C:\\a;D:\\b"], given)).roots, ["C:\\a", "D:\\b"]);
});

Deno.test("what would let strangers in, or keys out, is refused with the way out", async () => {
  const token = { ...HERE, env: { ...HERE.env, IAC_CODE_AGUI_AUTH_TOKEN: "t" } };
  assert.match((await refused(["--host", "0.0.0.0"])).join(), /--host 0\.0\.0\.0 .*IAC_CODE_AGUI_AUTH_TOKEN/);
  assert.match((await refused(["--allow-origin", "*"])).join(), /--allow-origin \* .*IAC_CODE_AGUI_AUTH_TOKEN/);
  assert.match((await refused(["--a2a-url", "http://10.0.0.1"])).join(), /--allow-remote-a2a/);
  assert.match((await refused(["--a2a-url", "http://127.0.0.1.evil.example"])).join(), /--allow-remote-a2a/);
  assert.deepEqual(await refused(["--host", "0.0.0.0", "--allow-origin", "*"], token), []);
  assert.deepEqual(await refused(["--a2a-url", "http://10.0.0.1", "--allow-remote-a2a"]), []);
  for (const url of ["http://localhost:1", "http://127.3.2.1:1", "http://[::1]:1"]) {
    assert.deepEqual(await refused(["--a2a-url", url]), [], url);
  }
});

Deno.test("a demo and a kernel of one's own exclude each other", async () => {
  assert.match((await refused(["--demo", "--a2a-url", "http://127.0.0.1:1"])).join(), /exclude/);
});

Deno.test("a variable that may not be read is named with its flag: it could hold a token", async () => {
  const closed = ["IAC_CODE_AGUI_AUTH_TOKEN", "IAC_CODE_AGUI_A2A_TOKEN", "HOME"];
  assert.deepEqual(await refused(["--state-dir", "/s"], { ...HERE, closed }), [
    "Permission missing: may not read the environment variables IAC_CODE_AGUI_AUTH_TOKEN,IAC_CODE_AGUI_A2A_TOKEN. " +
    "Add --allow-env=IAC_CODE_AGUI_AUTH_TOKEN,IAC_CODE_AGUI_A2A_TOKEN.",
  ]);
  assert.match((await refused([], { ...HERE, closed })).join(), /--allow-env=.*,HOME\.$/);
});

Deno.test("no home and no working directory are told with what to set", async () => {
  assert.deepEqual(await refused([], {}), [
    "There is no home directory: name a state directory with --state-dir.",
    "Workspace roots are missing, and the working directory may not be read: set --allowed-cwds.",
  ]);
});

Deno.test("a config file that is missing or too large is named", async () => {
  const folder = await Deno.makeTempDir();
  try {
    assert.deepEqual(await refused(["--config", `${folder}/none.yaml`]), [
      `The config file ${folder}/none.yaml cannot be read (NotFound).`,
    ]);
    await Deno.writeTextFile(`${folder}/large.yaml`, " ".repeat(1024 * 1024 + 1));
    assert.deepEqual(await refused(["--config", `${folder}/large.yaml`]), [
      `The config file ${folder}/large.yaml is too large.`,
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("--print-config prints a config file that says where each value came from, and no secret", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/agui.yaml`;
    await Deno.writeTextFile(file, "# tokens\nauth_token: from-the-file\nheartbeat: 5\nallow_host: [a.example]\n");
    const env = { ...HERE.env, IAC_CODE_AGUI_PORT: "9000", IAC_CODE_AGUI_A2A_TOKEN: "from-the-environment" };
    const { values, settings: made } = await configure(["--config", file, "--debug"], { ...HERE, env });
    const printed = printConfig(values, made);
    const rows = new Map(printed.split("\n").map((line) => [line.split(":")[0] ?? "", line.replace(/ +/g, " ")]));
    assert.equal(rows.get("port"), "port: 9000 # environment: IAC_CODE_AGUI_PORT");
    assert.equal(rows.get("heartbeat"), `heartbeat: 5 # config file: ${file}:3: heartbeat`);
    assert.equal(rows.get("debug"), "debug: true # flag: --debug");
    assert.equal(rows.get("host"), 'host: "127.0.0.1" # default');
    assert.equal(rows.get("state_dir"), 'state_dir: "/home/me/.iac-code/agui" # default');
    assert.equal(rows.get("# a2a_url"), "# a2a_url: # not set");
    assert.equal(rows.get("# auth_token"), `# auth_token: (hidden) # config file: ${file}:2: auth_token`);
    assert.equal(rows.get("# a2a_token"), "# a2a_token: (hidden) # environment: IAC_CODE_AGUI_A2A_TOKEN");
    assert.ok(!printed.includes("from-the"), "no secret is shown");

    await Deno.writeTextFile(file, printed);
    const again = await settings(["--config", file], { cwd: "/elsewhere" });
    assert.deepEqual(again, { ...made, authToken: undefined, a2aToken: undefined });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
