/**
 * `deno task demo`: the service on the demo kernel, one example conversation, then a server to play with. `--once` ends
 * after the example, `--port` chooses the port. What is set for the service in the environment does not count.
 */
import { delimiter, dirname } from "node:path";
import { parseArgs } from "node:util";
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
  try {
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  } catch (error) {
    // Who reads no further (`| head`) has seen enough.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Settings of a demo that keeps its state below `root`; it takes any workspace here or beside that, as nothing is written. */
async function demoSettings(root: string, port: string | undefined): Promise<Settings> {
  const windows = Deno.build.os === "windows";
  const nothing = { env: () => undefined, unread: new Set<string>(), cwd: () => undefined, windows };
  const roots = [Deno.cwd(), dirname(root)].join(delimiter);
  const flags = ["--demo", "--console", "--state-dir", `${root}/state`, "--allowed-cwds", roots];
  const chosen = port === undefined ? [] : [`--port=${port}`];
  return (await readConfiguration(readCommandLine([...flags, ...chosen]), nothing)).settings;
}

/** Starts on the port that was chosen; else on the default one, or on a free one when somebody else has that. */
async function start(settings: Settings, isChosen: boolean, log: Log): Promise<Started> {
  try {
    return await startService(settings, log);
  } catch (error) {
    if (isChosen || !(error instanceof StartFailure) || !(error.cause instanceof Deno.errors.AddrInUse)) throw error;
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

async function demonstrate(root: string, { once, port }: DemoFlags, ended: Promise<void>): Promise<void> {
  const cwd = `${root}/workspace/session-1`;
  await Deno.mkdir(cwd, { recursive: true });
  const log = createLog({ format: "text", level: "warning" });
  const service = await start(await demoSettings(root, port), port !== undefined, log);
  try {
    say(`An AG-UI server on a demo kernel: ${service.url}\nNothing is executed; a real client talks to it.\n`);
    await Promise.race([holdConversation(service.url, { cwd }), ended]);
    if (once) return;
    say(`\nIt stays up at ${service.url} until Ctrl-C. Talk to it in a browser:\n\n${service.url}/console\n\n`);
    say("or from the command line (each run needs a run id of its own):\n\n");
    say(`${curlLine(service.url, cwd)}\n\n`);
    await ended;
  } finally {
    await service.stop();
  }
}

interface DemoFlags {
  readonly once?: boolean;
  readonly port?: string;
  readonly help?: boolean;
}

const USAGE = `deno task demo [--once] [--port PORT]

  --once       end after the example conversation
  --port PORT  port to listen on [8000, or a free one]; 0 takes a free one
  -h, --help   show this
`;

/** The flags; undefined when there are others. */
function readFlags(args: readonly string[]): DemoFlags | undefined {
  const options = {
    once: { type: "boolean" },
    port: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch {
    return undefined;
  }
}

async function main(args: readonly string[]): Promise<number> {
  const flags = readFlags(args);
  if (!flags || flags.help) {
    say(`usage: ${USAGE}`);
    return flags ? EXIT.ok : EXIT.refused;
  }
  const asked = endSignal(() => Deno.exit(EXIT.killed));
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "iac-code-agui-demo-" }));
  try {
    await demonstrate(root, flags, aborted(asked));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof UnexpectedConversation) && !(error instanceof StartFailure)) throw error;
    say(`${error.message}\n`);
    return error instanceof StartFailure ? error.exitCode : EXIT.failed;
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.exit(await main(Deno.args));
