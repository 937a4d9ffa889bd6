/** `iac-code-agui doctor`: everything that serving needs, tried for real, one line each (docs/operators.md, "Doctor"). */
import { systemClock } from "../clock.ts";
import { askHealth, type KernelHealth } from "../kernel/health.ts";
import { connectKernel } from "../kernel/client.ts";
import { KernelFailure } from "../kernel/failure.ts";
import { openKernel } from "../kernel/open.ts";
import { CLOCK_SKEW_MS, DOCTOR_MS } from "../limits.ts";
import { errorKind, type Log, silentLog } from "../log.ts";
import { resolveRoots } from "../request/workspace.ts";
import { StartFailure } from "../start_failure.ts";
import { replaceFile, systemFiles, TEMP_SUFFIX } from "../store/atomic_file.ts";
import { lockState } from "../store/lock.ts";
import { makeStateDirectory } from "../store/state_directory.ts";
import { RELEASED, VERSION } from "../version.ts";
import { hostPort, missing, needsOf, runNeed } from "./permissions.ts";
import type { Settings } from "./settings.ts";

/** What a check found: what is well, or what is wrong. */
interface Finding {
  readonly ok: boolean;
  readonly text: string;
}

type Check = (settings: Settings) => Promise<Finding[]>;

const CHECKS: readonly (readonly [string, Check])[] = [
  ["permissions", checkPermissions],
  ["state", checkState],
  ["workspaces", checkWorkspaces],
  ["address", checkAddress],
  ["kernel", checkKernel],
  ["clock", checkClock],
];

/** Carries all checks out, whatever each finds; gives whether all is well. */
export async function examine(settings: Settings, print: (line: string) => void): Promise<boolean> {
  let allWell = true;
  for (const [name, check] of CHECKS) {
    const findings = await check(settings).catch((error) => [wrong(toldOf(error))]);
    for (const { ok, text } of findings) print(`${ok ? "ok     " : "PROBLEM"}  ${name.padEnd(11)}  ${text}`);
    allWell &&= findings.every(({ ok }) => ok);
  }
  return allWell;
}

function toldOf(error: unknown): string {
  return error instanceof StartFailure ? error.lines.join(" ") : `failed (${errorKind(error)})`;
}

const well = (text: string): Finding => ({ ok: true, text });
const wrong = (text: string): Finding => ({ ok: false, text });

function checkPermissions(settings: Settings): Promise<Finding[]> {
  const isManaged = settings.a2aUrl === undefined && !settings.demo;
  const needs = [...needsOf(settings), ...(isManaged ? [runNeed(settings.kernelCommand)] : [])];
  const lacking = missing(needs);
  return Promise.resolve(lacking.length > 0 ? lacking.map(wrong) : [well(`all ${needs.length} that are needed`)]);
}

async function checkState({ stateDir }: Settings): Promise<Finding[]> {
  const folder = await makeStateDirectory(stateDir);
  const began = performance.now();
  const name = `.doctor-${crypto.randomUUID()}${TEMP_SUFFIX}`;
  await replaceFile(systemFiles, folder, name, "probe");
  const ms = Math.ceil(performance.now() - began);
  const { mtime } = await Deno.stat(`${folder}/${name}`);
  await Deno.remove(`${folder}/${name}`);
  const skew = Math.abs((mtime ?? new Date()).getTime() - Date.now());
  return [
    well(`${stateDir}: a file is written and synced in ${ms} ms`),
    await checkLock(stateDir),
    ...(skew > CLOCK_SKEW_MS ? [wrong(`${stateDir}: its clock differs from this machine's by ${skew} ms`)] : []),
  ];
}

async function checkLock(stateDir: string): Promise<Finding> {
  const lock = await lockState(stateDir);
  if (!lock) return well(`${stateDir}: locked by a service that runs`);
  try {
    const second = await lockState(stateDir);
    second?.release();
    return second
      ? wrong(`${stateDir}: does not keep locks; use a local disk`)
      : well(`${stateDir}: free, keeps locks`);
  } finally {
    lock.release();
  }
}

async function checkWorkspaces({ roots }: Settings): Promise<Finding[]> {
  return await Promise.all(roots.map(async (root) => {
    const [real] = await resolveRoots([root]);
    if (real === undefined) return wrong(`${root}: does not exist, or may not be read`);
    if (!(await Deno.stat(real)).isDirectory) return wrong(`${root}: is no directory`);
    try {
      await Deno.remove(await Deno.makeTempDir({ dir: real, prefix: ".iac-code-agui-doctor-" }));
      return well(`${root}: workspaces can be created`);
    } catch (error) {
      return well(`${root}: workspaces have to exist, none can be created (${errorKind(error)})`);
    }
  }));
}

async function checkAddress({ host, port }: Settings): Promise<Finding[]> {
  const at = hostPort(host, port);
  try {
    Deno.listen({ hostname: host, port }).close();
    return [well(`${at}: free`)];
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) return [wrong(`${at}: cannot be listened on (${errorKind(error)})`)];
    const health = await askHealth(new URL(`http://${at}`), undefined, DOCTOR_MS);
    return [health?.isOurs ? well(`${at}: iac-code-agui ${health.version} serves there`) : wrong(`${at}: in use`)];
  }
}

async function checkKernel(settings: Settings): Promise<Finding[]> {
  if (settings.a2aUrl === undefined && await isServed(settings)) {
    return [well("one of the service's own; its log tells of it")];
  }
  const says: string[] = [];
  const log: Log = { ...silentLog, info: (_, { says: line } = {}) => line === undefined || says.push(String(line)) };
  try {
    const { url, token, close } = await openKernel(settings, log);
    try {
      return await checkOpenKernel(new URL(url), token);
    } finally {
      await close();
    }
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    const last = says.at(-1);
    return [wrong(`${error.lines.join(" ")}${last === undefined ? "" : ` Its last line: ${JSON.stringify(last)}`}`)];
  }
}

/** Whether a service has the state directory, and so its kernel. */
async function isServed({ stateDir }: Settings): Promise<boolean> {
  const lock = await lockState(stateDir);
  lock?.release();
  return lock === undefined;
}

const TOKEN_REFUSED = "the token is refused; IAC_CODE_AGUI_A2A_TOKEN has to be the kernel's IACCODE_A2A_HTTP_TOKEN";

async function checkOpenKernel(url: URL, token: string | undefined): Promise<Finding[]> {
  const health = await askHealth(url, token, DOCTOR_MS);
  if (!health) return [wrong(`${url.origin}: nothing answers there`)];
  if (health.status === 401 || health.status === 403) return [wrong(`${url.origin}: ${TOKEN_REFUSED}`)];
  if (health.status !== 200) return [wrong(`${url.origin}: GET /health is answered with HTTP ${health.status}`)];
  const version = health.version === undefined ? "a kernel" : `kernel ${health.version}`;
  return [
    well(`${url.origin}: ${version} answers`),
    await checkGetTask(url, token),
    ...checkKernelClock(url, health),
  ];
}

/** Asks for a task that does not exist: a kernel that says so has let us in. */
async function checkGetTask(url: URL, token: string | undefined): Promise<Finding> {
  const kernel = connectKernel({ url, token });
  try {
    const answer = await kernel.call("GetTask", { id: crypto.randomUUID(), historyLength: 0 }, undefined, DOCTOR_MS);
    return answer.kind === "error"
      ? well(`${url.origin}: GetTask is answered, ${token === undefined ? "without a token" : "the token is accepted"}`)
      : wrong(`${url.origin}: GetTask of an unknown task is answered with ${answer.kind}`);
  } catch (error) {
    if (!(error instanceof KernelFailure)) throw error;
    return error.status === 401 || error.status === 403
      ? wrong(`${url.origin}: ${TOKEN_REFUSED}`)
      : wrong(`${url.origin}: GetTask failed (${error.message})`);
  } finally {
    kernel.close();
  }
}

function checkKernelClock(url: URL, { date }: KernelHealth): Finding[] {
  const skew = date === undefined ? 0 : Math.abs(date.getTime() - systemClock.now());
  return skew > CLOCK_SKEW_MS ? [wrong(`${url.origin}: its clock differs from this machine's by ${skew} ms`)] : [];
}

function checkClock(): Promise<Finding[]> {
  const now = new Date();
  const told = now.toISOString();
  const isPast = now < new Date(RELEASED);
  return Promise.resolve([isPast ? wrong(`${told} is before the release of ${VERSION}`) : well(told)]);
}
