/**
 * Everything is run with marked secrets and marked conversation, then every place that they must not come to is searched for
 * the marks: as they are, URL-encoded, in base64, and cut.
 */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/json.ts";
import { inFolder } from "../support/folders.ts";
import { readEvents } from "../support/run_reader.ts";
import { strictThread } from "../support/strict_stream.ts";
import { askPermission, say, type Script, startStandIn } from "../support/stand_in_kernel.ts";
import { startProgram, urlOf } from "./program.ts";

const TYPE = { "content-type": "application/json" };
/** Shorter pieces of a mark may stand anywhere by chance. */
const PIECE = 10;

function mark(name: string): string {
  return `${name}/${crypto.randomUUID().replaceAll("-", "")}+é%${crypto.randomUUID().slice(0, 8)}==`;
}

/** Every piece of a mark in every spelling. */
function piecesOf(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const base64 = [0, 1, 2].map((shift) => new Uint8Array([...new Uint8Array(shift), ...bytes]).toBase64().slice(4, -4));
  const spellings = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...base64];
  return spellings.flatMap((text) =>
    Array.from({ length: text.length - PIECE + 1 }, (_, at) => text.slice(at, at + PIECE))
  );
}

async function filesBelow(folder: string): Promise<string> {
  let all = "";
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    all += `${name}\n${isDirectory ? await filesBelow(path) : await Deno.readTextFile(path)}\n`;
  }
  return all;
}

Deno.test("no secret comes into a file, a log line, an error or its body; no conversation into a file or a log line", () =>
  inFolder(async (root) => {
    const own = { agui: mark("token-of-ours").replace("é", ""), a2a: mark("token-of-kernel").replace("é", "") };
    const keys = ["key", "id", "secret", "sts", "header"].map(mark);
    const [llmApiKey = "", accessKeyId = "", accessKeySecret = "", securityToken = "", header = ""] = keys;
    const talk = ["user-says", "agent-says", "tool-argument", "tool-result", "answer"].map(mark);
    const [userSays = "", agentSays = "", argument = "", result = "", answer = ""] = talk;
    const secrets = [...keys, own.agui, own.a2a];

    await using kernel = startStandIn();
    const args = [
      "--a2a-url",
      kernel.url,
      "--port",
      "0",
      "--state-dir",
      `${root}/state`,
      "--allowed-cwds",
      root,
      "--debug",
    ];
    const env = { IAC_CODE_AGUI_AUTH_TOKEN: own.agui, IAC_CODE_AGUI_A2A_TOKEN: own.a2a };
    await using program = startProgram({ args, env });
    const url = await urlOf(program);
    let told = "";
    const checks = new Map([["thread-1", strictThread()]]);

    const input = (threadId: string, runId: string, more: JsonObject = {}, iac: JsonObject = {}): JsonObject => ({
      threadId,
      runId,
      state: { note: userSays },
      messages: [{ id: "message-1", role: "user", content: userSays }],
      tools: [],
      context: [{ description: "note", value: userSays }],
      forwardedProps: {
        iacCode: {
          schemaVersion: 1,
          rosInvocationId: "invocation-1",
          cwd: root,
          llmApiKey,
          llmHeaders: { "x-key": header },
          alibabaCloud: { accessKeyId, accessKeySecret, securityToken },
          ...iac,
        },
      },
      ...more,
    });
    const post = (body: string, token = own.agui, path = "/") =>
      fetch(`${url}${path}`, { method: "POST", body, headers: { ...TYPE, authorization: `Bearer ${token}` } });
    const run = async (threadId: string, runId: string, more?: JsonObject): Promise<JsonObject> => {
      const reader = await readEvents(await post(JSON.stringify(input(threadId, runId, more))), checks.get(threadId));
      const last = await reader.last();
      if (last.type === "RUN_ERROR") told += JSON.stringify(last);
      return last;
    };

    // Turns that end well, with an interrupt, its answer and a cancel.
    kernel.turn(say(agentSays), async ({ send, task }) => {
      const call = { toolUseId: "call-1", name: "list_files" };
      await send(...task.begin(), task.working({ tool: { ...call, status: "started" } }));
      await send(task.working({ tool: { ...call, status: "input_complete", toolInput: { path: argument } } }));
      await send(task.working({ tool: { ...call, status: "completed", result } }), ...task.finish(agentSays));
    }, askPermission());
    assert.equal((await run("thread-1", "run-1")).type, "RUN_FINISHED");
    assert.equal((await run("thread-1", "run-2")).type, "RUN_FINISHED");
    const asked = await run("thread-1", "run-3");
    assert.equal(asked.type, "RUN_FINISHED");
    const wrong = [{ interruptId: "permission-1", status: "resolved", payload: { freeText: answer } }];
    assert.equal((await run("thread-1", "run-4", { resume: wrong })).code, "RESUME_PAYLOAD_INVALID");
    const resume = [{ interruptId: "permission-1", status: "resolved", payload: { decision: "allow_once" } }];
    assert.equal((await run("thread-1", "run-5", { resume })).type, "RUN_FINISHED");

    // A kernel that repeats them, in each spelling, whole and at the cut of 500 characters.
    for (const [at, secret] of secrets.entries()) {
      const base64 = new TextEncoder().encode(`Bearer ${secret}`).toBase64();
      for (const [kind, said] of [secret, encodeURIComponent(secret), JSON.stringify({ secret }), base64].entries()) {
        const reason = `bad key ${said}, ${"-".repeat(460 - kind * 7 - at)}${said}`;
        const failed: Script = ({ send, task }) => send(...task.begin(), task.milestone("FAILED", reason));
        const page: Script = (call) => call.answer(500, "text/html", `<h1>${reason}</h1>`);
        kernel.turn([failed, (call: Parameters<Script>[0]) => call.fail(-32_000, reason), page][kind % 3] ?? failed);
        assert.equal((await run(`thread-${at}-${kind}`, "run-1")).type, "RUN_ERROR");
      }
    }

    // Requests that are refused.
    const bodies: [string, string?][] = [
      [JSON.stringify(input("thread-2", "run-1", {}, { llmApiKey: { key: llmApiKey } }))],
      [JSON.stringify(input("thread-2", "run-1", {}, { llmHeaders: { "x-key": `${header}\n` } }))],
      [JSON.stringify(input("thread-2", "run-1", {}, { thinking: llmApiKey }))],
      [JSON.stringify(input("thread-2", "run-1", {}, { schemaVersion: llmApiKey }))],
      [JSON.stringify(input("thread-2", "run-1", {}, { cwd: accessKeySecret }))],
      [JSON.stringify(
        input("thread-2", "run-1", { messages: [{ id: "a", role: "user", content: { text: userSays } }] }),
      )],
      [JSON.stringify(input("thread-1", "run-1", {}, { userId: "somebody" }))],
      [`{"llmApiKey": ${JSON.stringify(llmApiKey)}`],
      ["{}", own.agui.slice(0, -1)],
    ];
    for (const [body, token] of bodies) {
      const response = await post(body, token);
      assert.ok(response.status >= 400 && response.status < 500);
      told += await response.text();
    }
    told += await (await post(JSON.stringify({ threadId: llmApiKey }), own.agui, "/nothing")).text();

    program.signal("SIGTERM");
    assert.equal(await program.ended, 0);
    const kept = await filesBelow(`${root}/state`) + program.output();
    for (const piece of secrets.flatMap(piecesOf)) {
      assert.ok(!kept.includes(piece), `in a file or the log: ${piece}`);
      assert.ok(!told.includes(piece), `in an error: ${piece}`);
    }
    for (const piece of talk.flatMap(piecesOf)) assert.ok(!kept.includes(piece), `in a file or the log: ${piece}`);
    assert.ok(kept.includes("thread-1") && told.includes("***"), "what was searched is what was meant");
  }));
