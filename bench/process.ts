/** What Linux tells about a process. Elsewhere these figures are left out. */

const TICKS_A_SECOND = 100;

/** Whether the figures of this file can be had here. */
export const IS_KNOWN = Deno.build.os === "linux";

/** Resident memory in MiB. */
export function memoryOf(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`)) ?? [];
  return Number(kib) / 1024;
}

/** CPU time of all its threads, in s. */
export function cpuOf(pid: number): number {
  // The name of the program, in brackets, may hold spaces.
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** Looks at a process's memory until the work is done; gives the most that was seen, in MiB, and the work's result. */
export async function withPeakMemory<T>(pid: number, work: () => Promise<T>): Promise<{ peak: number; result: T }> {
  let peak = memoryOf(pid);
  const timer = setInterval(() => peak = Math.max(peak, memoryOf(pid)), 100);
  try {
    return { result: await work(), peak };
  } finally {
    clearInterval(timer);
  }
}
