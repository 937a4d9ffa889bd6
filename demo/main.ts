/**
 * `deno task demo`: the service on the demo kernel, one example conversation, then a server to play with. `--once` ends
 * after the example. Nothing to configure: what is set for the service in the environment does not count.
 */
import { delimiter, dirname } from "node:path";
import { readCommandLine } from "../src/config/command_line.ts";
import { readConfiguration } from "../src/config/read.ts";
import type { Settings } from "../src/config/settings.ts";
import { createLog, type Log } from "../src/log.ts";
import { aborted, endSignal } from "../src/signals.ts";
import { type Started, startService } from "../src/start.ts";
import { EXIT, StartFailure } from "../src/start_failure.ts";
import { holdConversation, UnexpectedConversation } from "./conversation.ts";

function say(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

/** Settings of a demo that keeps its state below `root`; it takes any workspace here or beside that, as nothing is written. */
async function demoSettings(root: string): Promise<Settings> {
  const windows = Deno.build.os === "windows";
  const nothing = { env: () => undefined, unread: new Set<string>(), cwd: () => undefined, windows };
  const roots = [Deno.cwd(), dirname(root)].join(delimiter);
  const flags = ["--demo", "--console", "--state-dir", `${root}/state`, "--allowed-cwds", roots];
  return (await readConfiguration(readCommandLine(flags), nothing)).settings;
}

/** Starts on the default port, or on a free one when somebody else has it. */
async function start(settings: Settings, log: Log): Promise<Started> {
  try {
    return await startService(settings, log);
  } catch (error) {
    if (!(error instanceof StartFailure) || !(error.cause instanceof Deno.errors.AddrInUse)) throw error;
    return await startService({ ...settings, port: 0 }, log);
  }
}

/** A request to paste: an answer that streams. */
function curlLine(url: string, cwd: string): string {
  const input = {
    threadId: "my-thread",
    runId: `run-${crypto.randomUUID().slice(0, 8)}`,
    state: {},
    messages: [{ id: "message-1", role: "user", content: "help" }],
    tools: [],
    context: [],
    forwardedProps: { iacCode: { schemaVersion: 1, rosInvocationId: "invocation-1", cwd, runMode: "normal" } },
  };
  return `curl -N ${url}/ -H 'Content-Type: application/json' -d '${JSON.stringify(input)}'`;
}

async function demonstrate(root: string, isOnce: boolean, ended: Promise<void>): Promise<void> {
  const cwd = `${root}/workspace/session-1`;
  await Deno.mkdir(cwd, { recursive: true });
  const service = await start(await demoSettings(root), createLog({ format: "text", level: "warning" }));
  try {
    say(`An AG-UI server on a demo kernel: ${service.url}\nNothing is executed; a real client talks to it.\n`);
    await Promise.race([holdConversation(service.url, { cwd }), ended]);
    if (isOnce) return;
    say(`\nIt stays up at ${service.url} until Ctrl-C. Talk to it in a browser:\n\n${service.url}/console\n\n`);
    say("or from the command line (each run needs a run id of its own):\n\n");
    say(`${curlLine(service.url, cwd)}\n\n`);
    await ended;
  } finally {
    await service.stop();
  }
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.filter((arg) => arg !== "--once");
  if (unknown.length > 0) {
    say(`usage: deno task demo [--once]\n`);
    return EXIT.refused;
  }
  const asked = endSignal(() => Deno.exit(EXIT.killed));
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "iac-code-agui-demo-" }));
  try {
    await demonstrate(root, args.includes("--once"), aborted(asked));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof UnexpectedConversation) && !(error instanceof StartFailure)) throw error;
    say(`${error.message}\n`);
    return EXIT.failed;
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.exit(await main(Deno.args));
