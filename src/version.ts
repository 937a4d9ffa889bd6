/** This program's version, and that of the AG-UI packages whose protocol it speaks. */
export const VERSION = "0.1.0";
export const PROTOCOL_VERSION = "1.0.0";
