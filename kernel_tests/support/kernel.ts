/** The real kernel, `iac-code a2a`, on the scripted model: installed once, started on free ports, killed and started again. */
import { isObject, type JsonObject } from "../../src/json.ts";
import { freePort, type Program, startProgram, untilListening } from "./program.ts";

export const KERNEL_TOKEN = "kerneltok";
/** iac-code 0.16.0 does not start with a2a-sdk 1.3, so both are pinned. */
const PACKAGES = ["iac-code[agui]==0.16.0", "a2a-sdk[http-server,signing]==1.1.5"];

export interface KernelOptions {
  /** A folder of the test's own; workspaces lie below it. */
  readonly folder: string;
  /** Telemetry on, to a place that refuses it: the kernel winds down for up to 10 s after each turn. */
  readonly linger?: boolean;
}

export interface RealKernel {
  readonly url: string;
  /** Ends the kernel as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  /** The newest user message of each model call so far, in order. */
  modelCalls(): Promise<string[]>;
  /** Asks the kernel directly; the JSON-RPC answer's result. */
  call(method: "GetTask" | "ListTasks", params: JsonObject): Promise<JsonObject>;
  /** All events of a task's pipeline, from the kernel's own journal. */
  pipelineEvents(taskId: string): Promise<JsonObject[]>;
  /** What another iac-code program needs to run beside it. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Path of the `iac-code` program, installed into $KERNEL_LAB (default: a folder in the temp folder) when it is not there. */
export async function installKernel(): Promise<string> {
  const lab = Deno.env.get("KERNEL_LAB") ?? `${Deno.env.get("TMPDIR") ?? "/tmp"}/iac-kernel-lab`;
  await Deno.mkdir(lab, { recursive: true });
  // Test files run side by side: one installs, the others wait.
  using lock = await Deno.open(`${lab}/install.lock`, { create: true, write: true });
  await lock.lock(true);
  const program = `${lab}/venv/bin/iac-code`;
  if (!await exists(program)) {
    await run("python3", "-m", "venv", `${lab}/venv`);
    await run(`${lab}/venv/bin/pip`, "install", "--quiet", ...PACKAGES);
  }
  return program;
}

/** Starts model and kernel, and waits until both can be reached. */
export async function startKernel({ folder, linger = false }: KernelOptions): Promise<RealKernel> {
  const program = await installKernel();
  const [modelPort, port] = [freePort(), freePort()];
  const modelLog = `${folder}/model.jsonl`;
  const env = environment(folder, modelPort, linger);
  await Deno.writeTextFile(modelLog, "");
  const script = new URL("model.py", import.meta.url).pathname;
  const model = await ready(modelPort, `${folder}/model.log`, ["python3", script, String(modelPort), modelLog], {});
  const command = [program, "a2a", "--host", "127.0.0.1", "--port", String(port)];
  const exposure = ["--thinking-exposure", "raw-thinking", "--thinking-exposure", "tool-trace"];
  let kernel: Program | undefined;

  const started: RealKernel = {
    url: `http://127.0.0.1:${port}`,
    env,
    async kill() {
      await kernel?.end();
      kernel = undefined;
    },
    async start() {
      kernel ??= await ready(port, `${folder}/kernel.log`, [...command, ...exposure], env);
    },
    async modelCalls() {
      const lines = (await Deno.readTextFile(modelLog)).split("\n").filter((line) => line !== "");
      return lines.map((line) => String(JSON.parse(line)));
    },
    async call(method, params) {
      const response = await fetch(started.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "a2a-version": "1.0",
          authorization: `Bearer ${KERNEL_TOKEN}`,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: "test", method, params }),
      });
      const { result, error } = await response.json();
      if (!isObject(result)) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return result;
    },
    async pipelineEvents(taskId) {
      const query = new URLSearchParams({ taskId, afterSequence: "0" });
      const headers = { authorization: `Bearer ${KERNEL_TOKEN}` };
      const response = await fetch(`${started.url}/iac-code/pipeline/state?${query}`, { headers });
      const { events } = await response.json();
      return events;
    },
    async close() {
      await started.kill();
      await model.end();
    },
  };
  await started.start();
  return started;
}

async function ready(port: number, log: string, command: string[], env: Record<string, string>): Promise<Program> {
  const program = startProgram({ log, command, env });
  try {
    await untilListening(port, program, log);
    return program;
  } catch (error) {
    await program.end();
    throw error;
  }
}

function environment(folder: string, modelPort: number, linger: boolean): Record<string, string> {
  const model = `http://127.0.0.1:${modelPort}`;
  // Whatever else the kernel wants to reach goes through a proxy that is not there.
  const nowhere = "http://127.0.0.1:9";
  const proxy = { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, "http_proxy": nowhere, "https_proxy": nowhere };
  const local = { NO_PROXY: "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost" };
  return {
    IAC_CODE_PROVIDER: "openai_compatible",
    IAC_CODE_MODEL: "fake-1",
    IAC_CODE_API_KEY: "none",
    IAC_CODE_BASE_URL: `${model}/v1`,
    IAC_CODE_CONFIG_DIR: `${folder}/config`,
    IACCODE_A2A_HTTP_TOKEN: KERNEL_TOKEN,
    IACCODE_A2A_ALLOWED_CWDS: folder,
    ...local,
    ...(linger
      ? { IAC_CODE_TELEMETRY_ENDPOINT: `${model}/refused`, ...proxy }
      : { IAC_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" }),
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(command, { args, stdout: "null", stderr: "inherit" }).output();
  if (!success) throw new Error(`${command} ${args.join(" ")} failed`);
}
