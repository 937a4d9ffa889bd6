/** SHA-256. Pure; the platform's module is loaded at the first use, since a start without it is 10 ms and 1 MB less. */
import { getBuiltinModule } from "node:process";
import type { Hash } from "node:crypto";

const crypto = () => getBuiltinModule("node:crypto");

/** The digest of a text (UTF-8), in lower-case hex. */
export function sha256(text: string): string {
  return hash().update(text).digest("hex");
}

/** A digest that is fed piece by piece. */
export function hash(): Hash {
  return crypto().createHash("sha256");
}

/** Whether two texts are equal, in a time that says nothing about where they differ: digests have one length. */
export function isSame(one: string, other: string): boolean {
  return crypto().timingSafeEqual(hash().update(one).digest(), hash().update(other).digest());
}
