/** The kernel that a service talks to: the one that is named, the embedded demo, or one of its own. */
import { missing, runNeed } from "../config/permissions.ts";
import type { Settings } from "../config/settings.ts";
import type { Log } from "../log.ts";

export interface OpenKernel {
  readonly url: string;
  readonly token: string | undefined;
  /** Ends the kernel when it is ours. */
  close(): Promise<void>;
}

/** Opens the kernel that the settings ask for. What a start does not need is not loaded. Throws StartFailure. */
export async function openKernel(settings: Settings, log: Log, signal?: AbortSignal): Promise<OpenKernel> {
  const { a2aUrl, a2aToken, demo, kernelCommand, kernelPort, roots } = settings;
  if (a2aUrl !== undefined) return { url: a2aUrl, token: a2aToken, close: () => Promise.resolve() };
  if (demo) {
    const { startDemoKernel } = await import("../../demo/kernel.ts");
    const kernel = startDemoKernel();
    log.info("demo kernel: nothing is executed", { url: kernel.url });
    return kernel;
  }
  const { noKernel, startManagedKernel } = await import("./child.ts");
  const [refused] = missing([runNeed(kernelCommand)]);
  if (refused !== undefined) throw noKernel(refused);
  return await startManagedKernel({
    command: kernelCommand,
    port: kernelPort,
    roots,
    log,
    ...(signal && { signal }),
  });
}
