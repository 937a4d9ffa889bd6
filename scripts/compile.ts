/**
 * `deno task compile`: one executable with exactly the permissions that a deployment needs, which deno fixes at compile time
 * (docs/operators.md, "One executable").
 */
import { parseArgs } from "node:util";
import { EXIT, StartFailure } from "../src/start_failure.ts";
import { type Baked, compileArguments, GENERAL, narrowest, type Target, TARGETS } from "./compile_flags.ts";
import { unusedPaths } from "./left_out.ts";

const USAGE = `deno task compile [--output FILE] [--target TARGET|all] [--create-workspaces] FLAGS OF THE SERVICE
deno task compile [--output FILE] [--target TARGET|all] --general

The flags of the service have to hold --state-dir and --allowed-cwds; they are baked in with the narrowest permissions.
--general bakes nothing in and allows any directory, address and kernel command.
Targets: ${TARGETS.join(", ")}
`;

const OWN = {
  output: { type: "string" },
  target: { type: "string" },
  general: { type: "boolean" },
  "create-workspaces": { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

const PROGRAM = new URL("../main.ts", import.meta.url).pathname;

interface Wish {
  readonly output: string;
  readonly targets: readonly (Target | undefined)[];
  readonly isGeneral: boolean;
  readonly createsWorkspaces: boolean;
  readonly flags: readonly string[];
}

/** Own flags apart from those of the service, which are kept as they are written. */
function readWish(args: readonly string[]): Wish | "help" {
  const { values, tokens } = parseArgs({ args: [...args], options: OWN, strict: false, tokens: true });
  const rest = new Set(args.keys());
  for (const token of tokens) {
    if (token.kind !== "option" || !(token.name in OWN)) continue;
    rest.delete(token.index);
    if (token.value !== undefined && !token.inlineValue) rest.delete(token.index + 1);
  }
  if (values.help === true) return "help";
  return {
    output: typeof values.output === "string" ? values.output : "dist/iac-code-agui",
    targets: targetsOf(values.target),
    isGeneral: values.general === true,
    createsWorkspaces: values["create-workspaces"] === true,
    flags: args.filter((_, at) => rest.has(at)),
  };
}

function targetsOf(given: string | boolean | undefined): readonly (Target | undefined)[] {
  if (given === undefined) return [undefined];
  if (given === "all") return TARGETS;
  const known = TARGETS.find((target) => target === given);
  if (!known) throw new StartFailure([`--target must be all or one of ${TARGETS.join(", ")}.`]);
  return [known];
}

async function bake({ isGeneral, flags, createsWorkspaces }: Wish, target: Target | undefined): Promise<Baked> {
  if (!isGeneral) {
    const windows = target === undefined ? Deno.build.os === "windows" : target.includes("windows");
    return await narrowest({ flags, createsWorkspaces, windows });
  }
  if (flags.length > 0) throw new StartFailure([`--general bakes nothing in; give ${flags[0]} when you run it.`]);
  return GENERAL;
}

async function compileAll(wish: Wish): Promise<void> {
  const leftOut = await unusedPaths(PROGRAM);
  for (const target of wish.targets) await compile(wish, leftOut, target);
}

async function compile(wish: Wish, leftOut: readonly string[], target: Target | undefined): Promise<void> {
  const baked = await bake(wish, target);
  const isOneOfMany = wish.targets.length > 1 && target !== undefined;
  const output = isOneOfMany ? `${wish.output}-${target}` : wish.output;
  say(`${output}: ${baked.permissions.join(" ")}\n`);
  const where = { main: PROGRAM, output, deno: Deno.version.deno, leftOut };
  const args = compileArguments(baked, { ...where, ...(target !== undefined && { target }) });
  const { code } = await new Deno.Command(Deno.execPath(), { args }).spawn().status;
  if (code !== 0) throw new StartFailure([`deno compile failed (${code}).`], EXIT.failed);
}

function say(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

async function main(args: readonly string[]): Promise<number> {
  try {
    const wish = readWish(args);
    if (wish === "help") say(USAGE);
    else await compileAll(wish);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    say(`${error.lines.join("\n")}\n\n${USAGE}`);
    return error.exitCode;
  }
}

Deno.exit(await main(Deno.args));
