import assert from "node:assert/strict";
import { startDemoKernel } from "../../demo/kernel.ts";
import { inFolder } from "../support/folders.ts";
import { readEvents } from "../support/run_reader.ts";
import { runInput } from "../support/service_process.ts";
import { runProgram, startProgram, urlOf } from "./program.ts";

const TOKENS = { "IAC_CODE_AGUI_AUTH_TOKEN": "client-token", "IAC_CODE_AGUI_A2A_TOKEN": "kernel-token" };

/** The command of docs/operators.md, "Permissions", with this test's paths and ports in it. */
async function documented(
  replaced: Readonly<Record<string, string>>,
): Promise<{ permissions: string[]; args: string[] }> {
  const text = await Deno.readTextFile(new URL("../../docs/operators.md", import.meta.url));
  const [, command = ""] = /## Permissions[^]*?```sh\n[^]*? deno run --no-prompt ([^]*?)```/.exec(text) ?? [];
  const words = command.split(/[\s\\]+/).filter((word) => word !== "");
  const here = words.map((word) =>
    Object.entries(replaced).reduce((changed, [from, to]) => changed.replaceAll(from, to), word)
  );
  const main = here.indexOf("main.ts");
  assert.ok(main > 0, "the documents hold the command");
  return { permissions: here.slice(0, main), args: here.slice(main + 1) };
}

async function withDeployment(
  work: (
    deployment: { permissions: string[]; args: string[]; workspace: string; restores: (text: string) => string },
  ) => Promise<void>,
): Promise<void> {
  const kernel = startDemoKernel({ token: TOKENS["IAC_CODE_AGUI_A2A_TOKEN"], pace: 0 });
  try {
    await inFolder(async (folder) => {
      const workspace = `${folder}/workspace`;
      await Deno.mkdir(`${workspace}/session-1`, { recursive: true });
      await Deno.mkdir(`${folder}/state`);
      const replaced = {
        "127.0.0.1:8000": `127.0.0.1:${freePort()}`,
        "--port": "--port",
        "41242": new URL(kernel.url).port,
        "/var/lib/iac-code-agui": `${folder}/state`,
        "/workspace": workspace,
      };
      const { permissions, args } = await documented(replaced);
      const port = replaced["127.0.0.1:8000"].split(":")[1] ?? "";
      const restores = (text: string): string =>
        Object.entries(replaced).reduceRight((changed, [from, to]) => changed.replaceAll(to, from), text);
      await work({ permissions, args: args.map((word) => word === "8000" ? port : word), workspace, restores });
    });
  } finally {
    await kernel.close();
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

Deno.test("with exactly the documented permissions a conversation with a permission's interrupt is held", async () => {
  await withDeployment(async ({ permissions, args, workspace }) => {
    assert.deepEqual(permissions.map((flag) => flag.split("=")[0]), [
      "--allow-net",
      "--allow-read",
      "--allow-write",
      "--allow-env",
    ]);
    await using program = startProgram({ args, permissions, env: TOKENS });
    const url = await urlOf(program);
    const say = async (runId: string, more: Parameters<typeof runInput>[3]) => {
      const response = await fetch(url, {
        method: "POST",
        body: JSON.stringify(runInput(`${workspace}/session-1`, "thread-1", runId, more)),
        headers: { "content-type": "application/json", authorization: "Bearer client-token" },
      });
      return await readEvents(response);
    };
    const hello = await say("run-1", { text: "hello" });
    assert.equal((await hello.last()).type, "RUN_FINISHED");
    assert.match(hello.text(), /hello/);

    const asked = await (await say("run-2", { text: "Please ask me for a permission." })).last();
    const { outcome } = asked as { outcome?: { interrupts?: { id: string }[] } };
    const interruptId = outcome?.interrupts?.[0]?.id ?? assert.fail(JSON.stringify(asked));
    const resume = [{ interruptId, status: "resolved", payload: { decision: "allow_once" } }];
    const resumed = await say("run-3", { resume });
    assert.deepEqual((await resumed.until("RUN_FINISHED")).outcome, { type: "success" });
    await resumed.leave();

    program.signal("SIGTERM");
    assert.equal(await program.ended, 0);
    assert.doesNotMatch(program.output(), / (ERR|WRN) /);
  });
});

Deno.test("a workspace that is missing is created only where its root may be written", async () => {
  await withDeployment(async ({ permissions, args, workspace }) => {
    for (const mayWrite of [false, true]) {
      const granted = permissions.map((flag) =>
        mayWrite && flag.startsWith("--allow-write") ? `${flag},${workspace}` : flag
      );
      await using program = startProgram({ args, permissions: granted, env: TOKENS });
      const response = await fetch(await urlOf(program), {
        method: "POST",
        body: JSON.stringify(runInput(`${workspace}/new/session-2`, "thread-1", "run-1", { text: "hello" })),
        headers: { "content-type": "application/json", authorization: "Bearer client-token" },
      });
      assert.equal(response.status, mayWrite ? 200 : 400);
      await response.body?.cancel();
    }
    assert.ok((await Deno.stat(`${workspace}/new/session-2`)).isDirectory);
  });
});

Deno.test("each documented permission that is missing gives the documented line and exit code 2", async () => {
  const text = await Deno.readTextFile(new URL("../../docs/operators.md", import.meta.url));
  await withDeployment(async ({ permissions, args, restores }) => {
    for (const flag of permissions) {
      const [name = "", list = ""] = flag.split("=");
      for (const item of list.split(",")) {
        const rest = list.split(",").filter((other) => other !== item);
        const fewer = permissions.filter((other) => other !== flag);
        if (rest.length > 0) fewer.push(`${name}=${rest.join(",")}`);
        const { code, output } = await runProgram({ args, permissions: fewer, env: TOKENS });
        assert.equal(code, 2, output);
        const told = restores(output).trimEnd();
        assert.match(told, /^iac-code-agui: Permission missing: [^\n]+$/);
        const known = told.replaceAll("IAC_CODE_AGUI_AUTH_TOKEN", "IAC_CODE_AGUI_A2A_TOKEN");
        assert.ok(text.includes(`\n${known}\n`), `documented: ${told}`);
        assert.ok(output.includes(`Add ${name}=${item}.`), output);
      }
    }
  });
});
