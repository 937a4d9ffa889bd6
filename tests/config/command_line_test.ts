import assert from "node:assert/strict";
import { helpText, readCommandLine } from "../../src/config/command_line.ts";
import { TABLE } from "../../src/config/options.ts";

Deno.test("without a word the program serves; doctor and the flags that only tell something are commands", () => {
  const commands: [string[], string][] = [
    [[], "serve"],
    [["--port", "9000"], "serve"],
    [["doctor"], "doctor"],
    [["doctor", "--port", "9000"], "doctor"],
    [["--port", "9000", "doctor"], "doctor"],
    [["--print-config"], "print-config"],
    [["--help"], "help"],
    [["-h"], "help"],
    [["doctor", "--help"], "help"],
    [["--version"], "version"],
  ];
  for (const [args, command] of commands) {
    assert.deepEqual(
      { command: readCommandLine(args).command, mistakes: readCommandLine(args).mistakes },
      { command, mistakes: [] },
      args.join(" "),
    );
  }
});

Deno.test("every flag of iac-code agui is taken as it is written there", () => {
  const line = readCommandLine([
    "--config=agui.yaml",
    "--host",
    "127.0.0.1",
    "--port",
    "8001",
    "--a2a-url",
    "http://127.0.0.1:41242",
    "-d",
    "--no-log-stdout",
    "--state-dir",
    "/state",
    "--idle-shutdown",
    "2.5",
  ]);
  assert.deepEqual(line.mistakes, []);
  assert.deepEqual({ ...line.flags }, {
    config: "agui.yaml",
    host: "127.0.0.1",
    port: "8001",
    "a2a-url": "http://127.0.0.1:41242",
    debug: true,
    "log-stdout": false,
    "state-dir": "/state",
    "idle-shutdown": "2.5",
  });
  assert.equal(readCommandLine(["--debug", "--log-stdout"]).flags["log-stdout"], true);
});

Deno.test("a repeatable flag keeps all its values, another one the last", () => {
  const { flags } = readCommandLine(["--allow-host", "a", "--allow-host", "b", "--port", "1", "--port", "2"]);
  assert.deepEqual({ ...flags }, { "allow-host": ["a", "b"], port: "2" });
});

Deno.test("an unknown flag or word, and a flag without its value, is one line that points at the help", () => {
  const cases: [string[], RegExp][] = [
    [["--prot", "1"], /^Unknown option '--prot'\. See --help\.$/],
    [["-x"], /^Unknown option '-x'\. See --help\.$/],
    [["--port"], /^Option '--port <value>' argument missing\. See --help\.$/],
    [["--port", "--debug"], /^Option '--port'.* is ambiguous\. See --help\.$/],
    [["--debug=1"], /^Option '.*--debug' does not take an argument\. See --help\.$/],
    [["serve"], /^Unknown command "serve"\. See --help\.$/],
    [["doctor", "now"], /^Unknown command "now"\. See --help\.$/],
  ];
  for (const [args, told] of cases) {
    const { mistakes } = readCommandLine(args);
    assert.equal(mistakes.length, 1, args.join(" "));
    assert.match(mistakes[0] ?? "", told);
  }
});

Deno.test("a secret has no flag, since everybody on the machine can read a command line", () => {
  for (const { name } of TABLE.filter(({ secret }) => secret)) {
    assert.match(readCommandLine([`--${name}`, "x"]).mistakes.join(), /Unknown option/);
  }
});

Deno.test("the help names every flag and every variable of a secret", () => {
  const help = helpText("1.2.3");
  for (const { name, secret, env } of TABLE) {
    assert.ok(help.includes(secret ? env?.[0] ?? "?" : `--${name}`), name);
  }
  assert.ok(help.includes("1.2.3"));
  assert.ok(help.split("\n").every((line) => line.length <= 120), "lines fit");
});
