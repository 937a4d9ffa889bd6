import assert from "node:assert/strict";
import { resolveValues } from "../../src/config/values.ts";

type File = Readonly<Record<string, unknown>>;

function resolve(flags: Record<string, string | boolean | string[]>, env: Record<string, string> = {}, file?: File) {
  const config = file && { values: new Map(Object.entries(file)), where: (name: string) => `agui.yaml:1: ${name}` };
  return resolveValues(flags, (name) => env[name], config, ":");
}

function valueOf(name: string, ...given: Parameters<typeof resolve>): unknown {
  const { values, mistakes } = resolve(...given);
  assert.deepEqual(mistakes, []);
  return [...values].find(([known]) => known === name)?.[1];
}

Deno.test("a flag goes over the environment, that over the config file, that over the default; each names its source", () => {
  const env = { IAC_CODE_AGUI_PORT: "2" };
  const file = { port: 3 };
  assert.deepEqual(valueOf("port", { port: "1" }, env, file), { value: 1, source: { kind: "flag", from: "--port" } });
  assert.deepEqual(valueOf("port", {}, env, file), {
    value: 2,
    source: { kind: "environment", from: "IAC_CODE_AGUI_PORT" },
  });
  assert.deepEqual(valueOf("port", {}, {}, file), {
    value: 3,
    source: { kind: "config file", from: "agui.yaml:1: port" },
  });
  assert.deepEqual(valueOf("port", {}), { value: 8000, source: { kind: "default" } });
  assert.equal(valueOf("a2a-url", {}), undefined);
});

Deno.test("a switch that a flag turns off stays off, whatever the config file says", () => {
  assert.deepEqual(valueOf("debug", { debug: false }, {}, { debug: true }), {
    value: false,
    source: { kind: "flag", from: "--debug" },
  });
});

Deno.test("workspace roots come from our variable before the kernel's", () => {
  const kernel = { IACCODE_A2A_ALLOWED_CWDS: "/k" };
  const roots = (env: Record<string, string>) => valueOf("allowed-cwds", {}, env);
  assert.deepEqual(roots({ ...kernel, IAC_CODE_AGUI_ALLOWED_CWDS: "/a:/b:" }), {
    value: ["/a", "/b"],
    source: { kind: "environment", from: "IAC_CODE_AGUI_ALLOWED_CWDS" },
  });
  assert.deepEqual(roots(kernel), {
    value: ["/k"],
    source: { kind: "environment", from: "IACCODE_A2A_ALLOWED_CWDS" },
  });
});

Deno.test("an empty variable, and an empty or null entry of a config file, is not set", () => {
  assert.deepEqual(valueOf("host", {}, { IAC_CODE_AGUI_HOST: "" }, { host: "" }), {
    value: "127.0.0.1",
    source: { kind: "default" },
  });
  assert.equal(valueOf("a2a-token", {}, {}, { "a2a-token": null }), undefined);
});

Deno.test("no variable is asked for when a flag decides", () => {
  const asked: string[] = [];
  resolveValues(
    { port: "1", host: "x", "a2a-url": "http://x", "state-dir": "/s", "allowed-cwds": "/w" },
    (name) => {
      asked.push(name);
      return undefined;
    },
    undefined,
    ":",
  );
  assert.deepEqual(asked, ["IAC_CODE_AGUI_AUTH_TOKEN", "IAC_CODE_AGUI_A2A_TOKEN"]);
});

Deno.test("a wrong value is told with the place where it stands and what was expected", () => {
  const cases: [Parameters<typeof resolve>, string][] = [
    [[{ port: "70000" }], "--port must be a port from 0 to 65535."],
    [[{ port: "1.5" }], "--port must be a port from 0 to 65535."],
    [[{ port: "-1" }], "--port must be a port from 0 to 65535."],
    [[{}, { IAC_CODE_AGUI_PORT: "http" }], "IAC_CODE_AGUI_PORT must be a port from 0 to 65535."],
    [[{}, {}, { port: "8000" }], "agui.yaml:1: port must be a port from 0 to 65535."],
    [[{}, {}, { port: true }], "agui.yaml:1: port must be a port from 0 to 65535."],
    [[{ "idle-shutdown": "soon" }], "--idle-shutdown must be a number of seconds, 0 or more and at most a year."],
    [[{ "interrupt-ttl": "-1" }], "--interrupt-ttl must be a number of seconds, 0 or more and at most a year."],
    [[{ heartbeat: "1e9" }], "--heartbeat must be a number of seconds, 0.05 or more and at most a year."],
    [[{ heartbeat: "0" }], "--heartbeat must be a number of seconds, 0.05 or more and at most a year."],
    [[{}, {}, { debug: "yes" }], "agui.yaml:1: debug must be true or false."],
    [[{ host: "" }], "--host must be a text that is not empty."],
    [
      [{}, {}, { "auth-token": 12 }],
      "agui.yaml:1: auth-token must be printable ASCII characters without spaces, as a header can carry.",
    ],
    [[{ "log-format": "xml" }], "--log-format must be text or json."],
    [[{ "allowed-cwds": "work" }], "--allowed-cwds must be absolute paths."],
    [[{}, { IAC_CODE_AGUI_ALLOWED_CWDS: ":" }], "IAC_CODE_AGUI_ALLOWED_CWDS must be absolute paths."],
    [
      [{}, {}, { "allow-host": [1] }],
      "agui.yaml:1: allow-host must be host names as in a Host header, such as agui.example.com, without scheme and path.",
    ],
    [[{ "kernel-command": " " }], "--kernel-command must be a command, or a list of a command and its arguments."],
  ];
  for (const [given, told] of cases) assert.deepEqual(resolve(...given).mistakes, [told]);
});

Deno.test("a kernel's URL is http or https and has nothing that would be lost", () => {
  const wrong = ["ftp://x", "x", "127.0.0.1:1", "http://user:secret@x", "http://x/?a=1", "http://x/#a", "http://"];
  for (const url of wrong) {
    const { mistakes } = resolve({ "a2a-url": url });
    assert.equal(mistakes.length, 1, url);
    assert.ok(!mistakes[0]?.includes("secret"), "the value is not shown");
  }
  for (const url of ["http://127.0.0.1:41242", "https://kernel.example/a2a/", "http://[::1]:1"]) {
    assert.deepEqual(resolve({ "a2a-url": url }).mistakes, [], url);
  }
});

Deno.test("an origin is what a browser sends, a host what a Host header holds, a token what a header can carry", () => {
  const table: [name: string, right: string[], wrong: string[]][] = [
    [
      "allow-origin",
      ["*", "null", "https://app.example", "http://localhost:3000", "https://[::1]:8443", "HTTPS://App.example"]
        .concat("chrome-extension://abcdefgh", "tauri://localhost", "vscode-webview://1a2b"),
      ["foo", "app.example", "https://app.example/", "https://app.example/page", "https://u:p@app.example", "https://"]
        .concat(
          "https://app.example:443",
          "https://büro.example",
          "https://a.example,https://b.example",
          "https://*.example",
        )
        .concat("https://a.example?x", "file:///", "https://a b"),
    ],
    [
      "allow-host",
      [
        "agui.example.com",
        "agui.example.com:8443",
        "10.0.0.1",
        "[::1]",
        "::1",
        "fe80::1",
        "host",
        "HOST:80",
        "xn--bro-hoa.example",
      ],
      [
        "http://agui.example.com",
        "agui.example.com/",
        "a b",
        "user@host",
        "büro.example",
        "host:port",
        "host:99999",
        "/",
      ],
    ],
    ["auth-token", ["a", "Zm9v+/=._~-", "!#$%&"], ["a b", "töken", "token\n", "\u0000", "€"]],
  ];
  const asFile = (name: string, value: string) => resolve({}, {}, { [name]: value }).mistakes;
  for (const [name, right, wrong] of table) {
    for (const value of right) assert.deepEqual(asFile(name, value), [], value);
    for (const value of wrong) assert.equal(asFile(name, value).length, 1, value);
  }
});

Deno.test("all mistakes are told at once", () => {
  assert.equal(resolve({ port: "x", "log-format": "x" }, { IAC_CODE_AGUI_A2A_URL: "x" }).mistakes.length, 3);
});

Deno.test("a kernel's command is its words, or a list where words hold spaces", () => {
  const command = (...given: Parameters<typeof resolve>) =>
    (valueOf("kernel-command", ...given) as { value: unknown }).value;
  assert.deepEqual(command({ "kernel-command": "uv  run iac-code" }), ["uv", "run", "iac-code"]);
  assert.deepEqual(command({}, {}, { "kernel-command": ["/opt/my kernel"] }), ["/opt/my kernel"]);
  assert.deepEqual(command({}), ["iac-code"]);
});
