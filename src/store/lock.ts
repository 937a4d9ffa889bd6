/** One process per state directory: a lock that the system holds, and frees when the process dies in whatever way. */
export interface StateLock {
  release(): void;
}

/** Takes the lock of a state directory; undefined when another process has it. */
export async function lockState(stateDir: string): Promise<StateLock | undefined> {
  const file = await Deno.open(`${stateDir}/agui.lock`, { read: true, write: true, create: true, mode: 0o600 });
  if (await file.tryLock(true)) return { release: () => file.close() };
  file.close();
  return undefined;
}
