/** A garbage collection now, for what holds things weakly and must not lose them. */
import v8 from "node:v8";
import vm from "node:vm";

/** Collects garbage, all of it. */
export function collectGarbage(): void {
  v8.setFlagsFromString("--expose-gc");
  const collect: unknown = vm.runInNewContext("gc");
  if (typeof collect !== "function") throw new Error("this runtime has no gc");
  collect();
}
