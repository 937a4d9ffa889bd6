/** What a scenario works with, and how repetitions of several servers are laid side by side. */
import { type Load, startTarget, type Target, type TargetKind } from "./programs.ts";
import type { Figure } from "./report.ts";

export interface Bench {
  readonly load: Load;
  /** URL of the stand-in kernel. */
  readonly kernel: string;
  /** Where everything lies; also the workspace of every run. */
  readonly folder: string;
  /** Fewer repetitions and smaller numbers. */
  readonly quick: boolean;
  readonly ours: TargetKind;
  readonly pipe: TargetKind;
  /** The pipe whose bytes pass through JavaScript. */
  readonly scriptPipe: TargetKind;
  /** Absent when it is not installed. */
  readonly python: TargetKind | undefined;
  /** Our executable, when there is one. */
  readonly executable: TargetKind | undefined;
  say(line: string): void;
}

export type Scenario = (bench: Bench) => Promise<Figure[]>;

/** Values by server, a list with one for each repetition. */
export type Values = Record<string, number[]>;

/** Runs `work` with servers that are started for it alone. */
export async function withTargets<T>(
  { kernel, folder }: Bench,
  kinds: readonly (TargetKind | undefined)[],
  work: (targets: Target[]) => Promise<T>,
): Promise<T> {
  const targets: Target[] = [];
  try {
    for (const kind of kinds) if (kind) targets.push(await startTarget(kind, kernel, folder));
    return await work(targets);
  } finally {
    for (const target of targets) await target.stop();
  }
}

/**
 * Measures servers in turn, repetition by repetition, after warm-ups that do not count: V8 compiles what runs often in several
 * steps, and a service runs for days. `measure` gives figures by name; the result is their values by name and server.
 */
export async function repeat<Name extends string, Server extends { readonly name: string }>(
  { quick }: Bench,
  targets: readonly Server[],
  measure: (target: Server) => Promise<Record<Name, number>>,
  warmUps = 1,
): Promise<Record<Name, Values>> {
  const all: Partial<Record<Name, Values>> = {};
  const repetitions = quick ? 3 : 5;
  for (let at = -warmUps; at < repetitions; at++) {
    for (const target of targets) {
      if (target.name === SLOW_SERVER && (quick ? at !== 0 : at < -1)) continue;
      const measured = await measure(target);
      if (at < 0) continue;
      for (const [name, value] of Object.entries<number>(measured) as [Name, number][]) {
        const values = all[name] ??= {};
        (values[target.name] ??= []).push(value);
      }
    }
  }
  return all as Record<Name, Values>;
}

/** It takes ten times as long as the others, has nothing to compile, and shows no ratio that hangs on a digit. */
const SLOW_SERVER = "python";
