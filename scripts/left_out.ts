/**
 * What an executable leaves out of the npm packages. Deno reads all that is embedded into memory at each start: with the
 * packages of the tests, 76 MB of them, that took 60 ms and as much memory for ever.
 */
import { z } from "zod";
import { EXIT, StartFailure } from "../src/start_failure.ts";

const Package = z.object({
  name: z.string(),
  version: z.string(),
  dependencies: z.array(z.string()),
  registryUrl: z.url(),
  /** Its folder; deno tells it since 2.9. */
  localPath: z.string().optional(),
});

/** What `deno info --json PROGRAM` tells, as far as it counts here. */
const ProgramInfo = z.object({
  modules: z.array(z.object({ npmPackage: z.string().optional() })),
  npmPackages: z.record(z.string(), Package),
});

const Caches = z.object({ npmCache: z.string() });

/** Of packages that are used: sources, builds for other runtimes, a codec for more memory than a picture gets here. */
const UNREAD: Readonly<Record<string, readonly string[]>> = {
  "@cfworker/json-schema": ["src"],
  "@imagemagick/magick-wasm": ["dist/x64", "dist/index.umd.cjs"],
  "eventsource-parser": ["src"],
  yaml: ["browser"],
  zod: ["src"],
};

/** The paths that an executable of the program at `main` leaves out. Throws StartFailure when deno cannot tell. */
export async function unusedPaths(main: string): Promise<string[]> {
  const program = ProgramInfo.parse(await info(main));
  return leftOut(program, Caches.parse(await info()).npmCache);
}

/** What `deno info` tells of a program, or of deno itself. */
async function info(...program: readonly string[]): Promise<unknown> {
  const args = ["info", "--json", ...program];
  const { success, stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  if (!success) throw new StartFailure(["deno info failed."], EXIT.failed);
  return JSON.parse(new TextDecoder().decode(stdout));
}

/**
 * The paths in deno's npm cache of packages that the program does not import, and of what it does not read of others. Pure.
 */
export function leftOut(program: z.infer<typeof ProgramInfo>, npmCache: string): string[] {
  const used = usedBy(program);
  return Object.entries(program.npmPackages).flatMap(([id, { name, version, registryUrl, localPath }]) => {
    const { host, pathname } = new URL(registryUrl);
    const folder = localPath ?? `${npmCache}/${host}${pathname}${name}/${version}`;
    return used.has(id) ? (UNREAD[name] ?? []).map((path) => `${folder}/${path}`) : [folder];
  });
}

/** The packages that the program imports, and those that these need. */
function usedBy({ modules, npmPackages }: z.infer<typeof ProgramInfo>): Set<string> {
  const used = new Set<string>();
  const found = modules.flatMap(({ npmPackage }) => npmPackage ?? []);
  for (let id = found.pop(); id !== undefined; id = found.pop()) {
    if (used.has(id)) continue;
    used.add(id);
    found.push(...npmPackages[id]?.dependencies ?? []);
  }
  return used;
}
