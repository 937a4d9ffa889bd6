/** Figures, their goals, and the table that is printed. Pure. */
import { median, medianRatio } from "./figures.ts";

/** What was measured of one figure: a value for each repetition, of each server. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly values: Readonly<Record<string, readonly number[]>>;
  readonly goals?: readonly Goal[];
}

/** A bound for our value, or for its ratio to another server's. */
export interface Goal {
  readonly to?: "pipe" | "python";
  readonly least?: number;
  readonly most?: number;
}

export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  /** Medians of the others, and the ratio of ours to each. */
  readonly others: Readonly<Record<string, { readonly value: number; readonly ratio: number }>>;
  readonly goals: readonly Judged[];
}

export interface Judged extends Goal {
  readonly reached: number;
  /** Undefined when there is nothing to compare with. */
  readonly passed: boolean | undefined;
}

/** Medians, ratios and verdicts. With `slack` 2, half of a goal is enough. */
export function judge({ name, unit, values, goals = [] }: Figure, slack: number): Row {
  const ours = values.ours ?? [];
  const others = Object.fromEntries(
    Object.entries(values).filter(([server]) => server !== "ours").map(([server, theirs]) => [
      server,
      { value: median(theirs), ratio: medianRatio(ours, theirs) },
    ]),
  );
  const row = { name, unit, ours: median(ours), others };
  return { ...row, goals: goals.map((goal) => judgeGoal(row, goal, slack)) };
}

function judgeGoal({ ours, others }: Omit<Row, "goals">, goal: Goal, slack: number): Judged {
  const reached = goal.to === undefined ? ours : others[goal.to]?.ratio;
  if (reached === undefined) return { ...goal, reached: NaN, passed: undefined };
  const isEnough = goal.least === undefined || reached >= goal.least / slack;
  const isLittle = goal.most === undefined || reached <= goal.most * slack;
  return { ...goal, reached, passed: isEnough && isLittle };
}

const TEXT_COLUMN = 8;

/** The table, a line a row. */
export function table(rows: readonly Row[]): string {
  const head = ["", "ours", "pipe", "ours : pipe", "script pipe", "ours : it", "python", "ours : it", "goal", ""];
  const lines = rows.map(({ name, unit, ours, others, goals }) => [
    `${name}, ${unit}`,
    number(ours),
    number(others.pipe?.value),
    number(others.pipe?.ratio),
    number(others.scriptPipe?.value),
    number(others.scriptPipe?.ratio),
    number(others.python?.value),
    number(others.python?.ratio),
    goals.map(words).join(", "),
    goals.map(verdict).filter((word) => word !== "").join(" "),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column]?.length ?? 0)));
  const print = (line: string[]) =>
    line.map((cell, at) =>
      at === 0 || at >= TEXT_COLUMN ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)
    ).join(
      "  ",
    )
      .trimEnd();
  return [head, ...lines].map(print).join("\n");
}

function words({ to, least, most }: Goal): string {
  const bound = least === undefined ? `≤ ${most}` : `≥ ${least}`;
  return to === undefined ? bound : `${bound} × ${to}`;
}

function verdict({ passed }: Judged): string {
  if (passed === undefined) return "";
  return passed ? "ok" : "FAILED";
}

function number(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "";
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value === 0 ? 0 : 2);
}
