import assert from "node:assert/strict";
import { systemClock } from "../../src/clock.ts";
import { startManagedKernel } from "../../src/kernel/child.ts";
import { silentLog } from "../../src/log.ts";
import { StartFailure } from "../../src/start_failure.ts";
import { inFolder } from "../support/folders.ts";
import { readEvents } from "../support/run_reader.ts";
import { runInput } from "../support/service_process.ts";
import { type Program, runProgram, startProgram, urlOf } from "./program.ts";

const STAND_IN = new URL("kernel_program.ts", import.meta.url).pathname;
const COMMAND = [Deno.execPath(), "run", "-A", "--no-prompt", "--quiet", STAND_IN];

/** A service with a kernel of its own, which is the stand-in. */
function start(folder: string, env: Record<string, string> = {}, ...flags: string[]): Program {
  const args = ["--port", "0", "--state-dir", `${folder}/state`, "--kernel-command", COMMAND.join(" "), ...flags];
  return startProgram({ args, env: { "IAC_CODE_AGUI_ALLOWED_CWDS": `${folder}:/nowhere`, ...env } });
}

interface KernelStart {
  readonly pid: number;
  readonly args: readonly string[];
}

/** How the stand-in says that it was started, the first time and later. */
async function kernelStart(program: Program, nth = 0): Promise<KernelStart> {
  const line = `kernel says="started [^\\n]*`;
  await program.told(new RegExp(Array(nth + 1).fill(line).join("[^]*?")));
  const [found = ""] = program.output().match(new RegExp(line, "g"))?.slice(nth) ?? [];
  const said: string = JSON.parse(found.slice("kernel says=".length));
  return JSON.parse(said.slice("started ".length));
}

async function converse(url: string, cwd: string, runId: string): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(runInput(cwd, "thread-1", runId, { text: "hello" })),
    headers: { "content-type": "application/json", authorization: "Bearer ours" },
  });
  const run = await readEvents(response);
  const last = await run.last();
  assert.equal(last.type, "RUN_FINISHED", JSON.stringify(last));
  return run.text();
}

/** Whether a process is there; one that is over and not yet buried is not. */
async function lives(pid: number): Promise<boolean> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", String(pid)] }).output();
  const state = new TextDecoder().decode(stdout).trim();
  return state !== "" && !state.startsWith("Z");
}

Deno.test("without --a2a-url a kernel is started as the Python adapter's, answers runs, comes back after kill -9, and ends with us", async () => {
  await inFolder(async (folder) => {
    await using program = start(folder, { "IAC_CODE_AGUI_AUTH_TOKEN": "ours" });
    const url = await urlOf(program);
    const first = await kernelStart(program);
    const port = first.args[4] ?? "";
    assert.deepEqual(
      first.args,
      ["a2a", "--host", "127.0.0.1", "--port", port].concat(
        ["raw-thinking", "tool-trace"].flatMap((kind) => ["--thinking-exposure", kind]),
      ),
    );
    // The agent's shell does not see our tokens.
    assert.ok(program.output().includes(JSON.stringify(`found {"roots":"${folder}:/nowhere","foreign":["",""]}`)));
    assert.match(await converse(url, folder, "run-1"), /hello/);
    assert.equal((await fetch(`http://127.0.0.1:${port}/health`).then(discard)).status, 401, "it wants a token");

    Deno.kill(first.pid, "SIGKILL");
    await program.told(/the kernel ended; it is started again code=137 signal=SIGKILL/);
    const second = await kernelStart(program, 1);
    assert.notEqual(second.pid, first.pid);
    assert.deepEqual(second.args, first.args, "on the same port");
    await program.told(/kernel ready[^]*kernel ready/);
    assert.match(await converse(url, folder, "run-2"), /hello/);

    program.signal("SIGTERM");
    assert.equal(await program.ended, 0);
    assert.equal(await lives(second.pid), false, "the kernel is gone");
  });
});

async function discard(response: Response): Promise<Response> {
  await response.body?.cancel();
  return response;
}

Deno.test("a second signal ends the program at once with 130, and its kernel too", async () => {
  await inFolder(async (folder) => {
    await using program = start(folder, { "STAND_IN": "stubborn" });
    await urlOf(program);
    const { pid } = await kernelStart(program);
    program.signal("SIGTERM");
    await program.told(/I stay/);
    program.signal("SIGINT");
    assert.equal(await program.ended, 130);
    // A busy system ends what was killed a moment later.
    for (let tries = 0; tries < 100 && await lives(pid); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(await lives(pid), false);
  });
});

Deno.test("a signal while the kernel starts ends both, exit code 0", async () => {
  await inFolder(async (folder) => {
    await using program = start(folder, { "STAND_IN": "silent" });
    const { pid } = await kernelStart(program);
    program.signal("SIGTERM");
    assert.equal(await program.ended, 0);
    assert.equal(await lives(pid), false);
  });
});

Deno.test("a kernel that ends before it answers is told, with its own last words before, exit code 1", async () => {
  await inFolder(async (folder) => {
    await using program = start(folder, { "STAND_IN": "dies" });
    assert.equal(await program.ended, 1);
    assert.match(
      program.output(),
      /says="no model is configured"\n.*The kernel did not start: it ended before it answered\. Its own lines above say more\.\n$/,
    );
  });
});

Deno.test("without iac-code, and without the permission to start it, one message says how to get a kernel", async () => {
  await inFolder(async (folder) => {
    const args = ["--port", "0", "--state-dir", folder, "--kernel-command"];
    const absent = await runProgram({ args: [...args, "no-such-kernel"] });
    assert.match(absent.output, /no kernel to talk to: the command no-such-kernel was not found\. Either/);
    const closed = await runProgram({
      args: [...args, Deno.execPath()],
      permissions: ["--allow-net", "--allow-read", "--allow-write", "--allow-env"],
    });
    assert.match(closed.output, /Permission missing: may not start \S+\. Add --allow-run=\S+\. Either/);
    for (const { code, output } of [absent, closed]) {
      assert.equal(code, 2);
      for (const way of ["pip install", "--kernel-command", "--a2a-url", "--demo"]) {
        assert.ok(output.includes(way), way);
      }
    }
  });
});

/** The real clock at another speed. */
function fastClock(times: number) {
  return {
    ...systemClock,
    elapsed: () => performance.now() * times,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / times, signal),
  };
}

/** A kernel of its own in this process; `says` gets its lines. */
async function startHere(standIn: string, says: string[] = []) {
  return await startManagedKernel({
    command: ["env", `STAND_IN=${standIn}`, ...COMMAND],
    port: 0,
    roots: ["/tmp"],
    log: { ...silentLog, info: (_, fields) => fields?.says !== undefined && says.push(String(fields.says)) },
    clock: fastClock(20),
  });
}

Deno.test("a kernel that does not answer within 20 s is ended and told", async () => {
  const says: string[] = [];
  await assert.rejects(startHere("silent", says), (error) => {
    assert.ok(error instanceof StartFailure);
    assert.deepEqual(error.lines, ["The kernel did not start: no answer within 20 s. Its own lines above say more."]);
    assert.equal(error.exitCode, 1);
    return true;
  });
  const { pid } = JSON.parse((says[0] ?? "").slice("started ".length));
  assert.equal(await lives(pid), false);
});

Deno.test("a kernel that does not end when asked is killed", async () => {
  const says: string[] = [];
  const kernel = await startHere("stubborn", says);
  await kernel.close();
  const { pid } = JSON.parse((says[0] ?? "").slice("started ".length));
  assert.equal(await lives(pid), false);
  assert.equal(says.at(-1), "I stay");
});
