/** The service with its console, as a program would start it, on the demo kernel or on another one. */
import { startDemoKernel } from "../../demo/kernel.ts";
import { readCommandLine } from "../../src/config/command_line.ts";
import { readConfiguration } from "../../src/config/read.ts";
import { createLog } from "../../src/log.ts";
import { startService } from "../../src/start.ts";

export interface ServiceOptions {
  /** The token that clients must bring. */
  readonly token?: string;
  /** How fast the demo kernel speaks; 0, the default, as fast as possible. */
  readonly pace?: number;
  /** Another kernel than the demo. */
  readonly kernel?: { readonly url: string; readonly token: string };
  readonly interruptTtl?: number;
  /** A folder to work in, which the kernel allows; one of its own when absent. */
  readonly folder?: string;
}

export interface ConsoleService extends AsyncDisposable {
  readonly url: string;
  readonly workspace: string;
  /** Thread files, parsed. */
  threads(): Promise<unknown[]>;
}

/** Starts a service that keeps everything below a directory of its own. */
export async function startConsoleService(options: ServiceOptions = {}): Promise<ConsoleService> {
  const { token, pace = 0, interruptTtl = 540, folder } = options;
  const demo = options.kernel ? undefined : startDemoKernel({ pace });
  const kernel = options.kernel ?? demo;
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "console-", ...(folder && { dir: folder }) }));
  const workspace = `${root}/workspace`;
  await Deno.mkdir(workspace);
  const variables = new Map([["IAC_CODE_AGUI_A2A_TOKEN", kernel?.token], ["IAC_CODE_AGUI_AUTH_TOKEN", token]]);
  const flags = [
    "--console",
    ...["--a2a-url", kernel?.url ?? ""],
    ...["--port", "0"],
    ...["--state-dir", `${root}/state`],
    ...["--allowed-cwds", workspace],
    ...["--interrupt-ttl", `${interruptTtl}`],
  ];
  const around = {
    env: (name: string) => variables.get(name),
    unread: new Set<string>(),
    cwd: () => undefined,
    windows: false,
  };
  const { settings } = await readConfiguration(readCommandLine(flags), around);
  const log = createLog({ format: "text", level: "error" });
  const service = await startService(settings, log);
  return {
    url: service.url,
    workspace,
    async threads() {
      const folder = `${root}/state/threads`;
      const files = await Array.fromAsync(Deno.readDir(folder));
      return await Promise.all(files.map(async ({ name }) => JSON.parse(await Deno.readTextFile(`${folder}/${name}`))));
    },
    async [Symbol.asyncDispose]() {
      await service.stop();
      await demo?.close();
      await log.flush();
      await Deno.remove(root, { recursive: true });
    },
  };
}
