/** This program's version, and that of the AG-UI packages whose protocol it speaks. */
export const VERSION = "0.1.0";
export const PROTOCOL_VERSION = "1.0.0";
/** The day of the release; a clock that shows an earlier one is wrong. */
export const RELEASED = "2026-01-01";
