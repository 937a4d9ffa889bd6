import assert from "node:assert/strict";
import { compileArguments, GENERAL, narrowest, V8_FLAGS } from "../../scripts/compile_flags.ts";
import { leftOut, unusedPaths } from "../../scripts/left_out.ts";
import { StartFailure } from "../../src/start_failure.ts";

const PATHS = ["--state-dir", "/var/lib/agui", "--allowed-cwds", "/work:/more"];

async function baked(flags: readonly string[], more: { createsWorkspaces?: boolean; windows?: boolean } = {}) {
  return (await narrowest({ flags, createsWorkspaces: false, windows: false, ...more })).permissions;
}

Deno.test("a deployment's executable may listen, reach its kernel, keep its state, look at its workspaces, read its tokens: nothing else", async () => {
  assert.deepEqual(
    await baked([...PATHS, "--host", "127.0.0.1", "--port", "9000", "--a2a-url", "http://127.0.0.1:41242"]),
    [
      "--allow-env=IAC_CODE_AGUI_AUTH_TOKEN,IAC_CODE_AGUI_A2A_TOKEN",
      "--allow-net=127.0.0.1:9000,127.0.0.1:41242",
      "--allow-read=/var/lib/agui,/work,/more",
      "--allow-write=/var/lib/agui",
    ],
  );
});

Deno.test("variables that may still decide something are readable", async () => {
  const [env] = await baked([...PATHS, "--port", "9000", "--a2a-url", "http://127.0.0.1:41242"]);
  assert.equal(env, "--allow-env=IAC_CODE_AGUI_HOST,IAC_CODE_AGUI_AUTH_TOKEN,IAC_CODE_AGUI_A2A_TOKEN");
});

Deno.test("an executable for other machines can be made; whether there is a token shows when it starts", async () => {
  const flags = [...PATHS, "--host", "0.0.0.0", "--a2a-url", "http://127.0.0.1:1"];
  assert.ok((await baked(flags)).includes("--allow-net=0.0.0.0:8000,127.0.0.1:1"));
});

Deno.test("workspaces are created only where that was asked for", async () => {
  const permissions = await baked([...PATHS, "--a2a-url", "http://127.0.0.1:1"], { createsWorkspaces: true });
  assert.equal(permissions.at(-1), "--allow-write=/var/lib/agui,/work,/more");
});

Deno.test("a kernel of its own needs its command, and the port that it is given", async () => {
  const free = await baked(PATHS);
  assert.ok(free.includes("--allow-net=127.0.0.1:8000,127.0.0.1"));
  assert.ok(free.includes("--allow-run=iac-code"));
  const fixed = await baked([...PATHS, "--kernel-port", "41243", "--kernel-command", "/opt/iac-code"]);
  assert.ok(fixed.includes("--allow-net=127.0.0.1:8000,127.0.0.1:41243"));
  assert.ok(fixed.includes("--allow-run=/opt/iac-code"));
});

Deno.test("an executable for Windows takes its paths as Windows writes them", async () => {
  const flags = ["--state-dir", "C:\\state", "--allowed-cwds", "C:\\a;D:\\b", "--a2a-url", "http://127.0.0.1:1"];
  assert.ok((await baked(flags, { windows: true })).includes("--allow-read=C:\\state,C:\\a,D:\\b"));
});

Deno.test("what is not fixed, wrong or no service is refused", async () => {
  const cases: [string[], RegExp][] = [
    [[], /--state-dir is missing.*\n--allowed-cwds is missing/],
    [[...PATHS, "--prot", "1"], /Unknown option '--prot'/],
    [[...PATHS, "doctor"], /--doctor is for its command line/],
    [[...PATHS, "--demo", "--a2a-url", "http://127.0.0.1:1"], /exclude each other/],
  ];
  for (const [flags, told] of cases) {
    await assert.rejects(baked(flags), (error) => error instanceof StartFailure && told.test(error.message));
  }
});

Deno.test("the general executable never prompts and may not load code, know the machine or call foreign functions", () => {
  const args = compileArguments(GENERAL, { main: "main.ts", output: "out", deno: "2.9.6", leftOut: ["/npm/rxjs/7"] });
  assert.deepEqual(args, [
    "compile",
    "--quiet",
    "--no-prompt",
    "--frozen",
    "--exclude-unused-npm",
    "--exclude=/npm/rxjs/7",
    V8_FLAGS,
    "--allow-net",
    "--allow-read",
    "--allow-write",
    "--allow-env",
    "--allow-run",
    "--output",
    "out",
    "main.ts",
  ]);
});

Deno.test("a target is compiled for, and the deployment's flags are baked in behind the program", () => {
  const flags = ["--port", "9000"];
  const args = compileArguments({ permissions: ["--allow-net=x"], flags }, {
    main: "main.ts",
    output: "out",
    target: "aarch64-apple-darwin",
    deno: "2.7.14",
    leftOut: [],
  });
  assert.deepEqual(args.slice(4), [
    V8_FLAGS,
    "--allow-net=x",
    "--target",
    "aarch64-apple-darwin",
    "--output",
    "out",
    "main.ts",
    "--port",
    "9000",
  ]);
});

Deno.test("an executable holds the packages that it imports and what these need; of those, not what nothing reads", () => {
  const npm = (name: string, version: string, ...dependencies: string[]) => {
    return { name, version, dependencies, registryUrl: "https://npm.test/" };
  };
  const program = {
    modules: [{}, { npmPackage: "zod@4.6.7" }, { npmPackage: "yaml@2.9.1" }],
    npmPackages: {
      "yaml@2.9.1": npm("yaml", "2.9.1", "deep@1.0.0"),
      "deep@1.0.0": npm("deep", "1.0.0", "yaml@2.9.1"),
      "zod@4.6.7": npm("zod", "4.6.7"),
      "@ag-ui/client@1.0.0": npm("@ag-ui/client", "1.0.0", "rxjs@7.8.1", "zod@4.6.7"),
      "rxjs@7.8.1": { ...npm("rxjs", "7.8.1"), localPath: "/npm/elsewhere/rxjs/7.8.1_1" },
    },
  };
  assert.deepEqual(leftOut(program, "/npm"), [
    "/npm/npm.test/yaml/2.9.1/browser",
    "/npm/npm.test/zod/4.6.7/src",
    "/npm/npm.test/@ag-ui/client/1.0.0",
    "/npm/elsewhere/rxjs/7.8.1_1",
  ]);
});

Deno.test("what an executable leaves out of the service's packages is there to be left out", async () => {
  const paths = await unusedPaths(new URL("../../main.ts", import.meta.url).pathname);
  const parts = paths.filter((path) => !/\/\d+\.\d+\.\d+(_\d+)?$/.test(path));
  assert.ok(parts.length >= 5, parts.join(" "));
  for (const path of parts) await Deno.stat(path);
  for (const name of ["rxjs", "playwright-core", "@ag-ui/client"]) {
    assert.ok(paths.some((p) => p.includes(`/${name}/`)), name);
  }
  for (const name of ["yaml", "zod"]) assert.ok(parts.some((path) => path.includes(`/${name}/`)), name);
  for (const name of ["@logtape/logtape", "@opentelemetry/api"]) {
    assert.ok(!paths.some((p) => p.includes(`/${name}/`)), name);
  }
});

Deno.test("an executable and the sources run with the same bounds of memory", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  assert.ok(tasks.start.split(" ").includes(V8_FLAGS));
});
