/** A file that cannot be used: of another schema, of another thread, or damaged. */
export class CorruptThread extends Error {
  /** @param code What is wrong with it; it may be logged. */
  constructor(readonly code: string) {
    super(code);
    this.name = "CorruptThread";
  }
}
