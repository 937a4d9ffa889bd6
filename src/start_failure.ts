/** A start that cannot succeed, told in lines that an operator can act on. */

/** Exit codes of the program (docs/operators.md, "Exit codes"). */
export const EXIT = {
  /** Ended as asked. */
  ok: 0,
  /** Something that was to work did not: a kernel that does not start, a problem that `doctor` found. */
  failed: 1,
  /** It cannot start as configured: an option, a permission, a port, a directory. */
  refused: 2,
  /** A second signal. */
  killed: 130,
} as const;

/** Ends the start. Every line is shown, and the program exits with the code. */
export class StartFailure extends Error {
  override name = "StartFailure";

  constructor(readonly lines: readonly string[], readonly exitCode: number = EXIT.refused, options?: ErrorOptions) {
    super(lines.join("\n"), options);
  }
}
