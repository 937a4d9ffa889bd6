import assert from "node:assert/strict";
import { readConfig } from "../../src/config/config_file.ts";

function read(text: string, name = "agui.yaml") {
  const result = readConfig(text, name);
  assert.ok("file" in result, JSON.stringify(result));
  return result.file;
}

function mistakes(text: string, name = "agui.yaml"): string[] {
  const result = readConfig(text, name);
  return "mistakes" in result ? result.mistakes : [];
}

Deno.test("a config file of iac-code agui is taken as it is", () => {
  const { values, where } = read(`# AG-UI
host: 127.0.0.1
port: 8001
a2a_url: http://127.0.0.1:41242
debug: true
log_stdout: false
state-dir: /var/lib/agui
idle_shutdown: 30.5
auth_token: "client"
a2a_token: kernel
`);
  assert.deepEqual(Object.fromEntries(values), {
    host: "127.0.0.1",
    port: 8001,
    "a2a-url": "http://127.0.0.1:41242",
    debug: true,
    "log-stdout": false,
    "state-dir": "/var/lib/agui",
    "idle-shutdown": 30.5,
    "auth-token": "client",
    "a2a-token": "kernel",
  });
  assert.equal(where("a2a-url"), "agui.yaml:4: a2a_url");
});

Deno.test("JSON is a config file too, and has lines as well", () => {
  const { values, where } = read('{\n  "port": 1,\n  "allow_host": ["a", "b"]\n}', "agui.json");
  assert.deepEqual(Object.fromEntries(values), { port: 1, "allow-host": ["a", "b"] });
  assert.equal(where("allow-host"), "agui.json:3: allow_host");
});

Deno.test("an empty file sets nothing; anchors hold", () => {
  assert.equal(read("").values.size, 0);
  assert.equal(read("# nothing\n").values.size, 0);
  assert.deepEqual([...read("allow_host: &a [x]\nallow_origin: *a\n").values.values()], [["x"], ["x"]]);
});

Deno.test("a mistake names file, line and field", () => {
  const cases: [string, string, string][] = [
    ["agui.yaml", "port: 1\nprot: 2\n", "agui.yaml:2: prot is not a known option."],
    ["agui.yaml", "config: x\n", "agui.yaml:1: config is not a known option."],
    ["agui.yaml", "port: 1\n\nport: 2\n", "agui.yaml:3: not valid YAML (duplicate_key)."],
    ["agui.yaml", "a2a-url: x\na2a_url: y\n", "agui.yaml:2: a2a_url is there twice."],
    ["agui.yaml", "port: [1\nhost: x\n", "agui.yaml:2: not valid YAML (bad_indent)."],
    ["agui.yaml", "- port\n", "agui.yaml: must be a mapping of options."],
    ["agui.yaml", "port: *none\n", "agui.yaml:1: port names an anchor that is not there."],
    ["agui.yaml", "? [1]\n: 2\n", "agui.yaml:1: a key is not a known option."],
    ["agui.json", '{\n"port": 1,\n}', "agui.json:3: not valid JSON."],
    ["agui.json", "port: 1\n", "agui.json: not valid JSON."],
  ];
  for (const [name, text, told] of cases) assert.deepEqual(mistakes(text, name), [told], text);
});

Deno.test("a mistake never quotes the file, which may hold tokens", () => {
  const token = "S3cretToken0123456789";
  const texts = [
    `auth_token ${token}\n`,
    `auth_token: "${token}\n`,
    `${token}: 1\n`,
    `auth_token: *${token}\n`,
    `auth_token: [${token}\nport: 1`,
    `auth_token: ${token}: x\n`,
    `auth_token: !!${token} x\n@${token}`,
  ];
  for (const [at, text] of texts.entries()) {
    for (const name of ["a.yaml", "a.json"]) {
      const told = mistakes(text, name);
      assert.ok(told.length > 0, `${at} ${name}`);
      assert.ok(!told.join().includes(token), told.join());
    }
  }
});

Deno.test("a bomb of aliases is a mistake, and soon", () => {
  const rows = Array.from({ length: 12 }, (_, at) => `allow_${at}: &a${at + 1} [${`*a${at},`.repeat(9)}]`);
  const began = performance.now();
  assert.ok(mistakes(`host: &a0 x\n${rows.join("\n")}\nport: *a12\n`).length > 0);
  assert.ok(performance.now() - began < 1_000);
});
