/**
 * One sync of a folder serves all who have changed it before it begins: runs that start at the same time do not wait for one
 * sync each, one after the other. Pure: the syncs are handed in.
 */

interface Folder {
  sync(): Promise<void>;
  close(): void;
}

interface Turns {
  readonly now: Promise<void>;
  /** For all who came while `now` was under way, since what they changed may be too late for it. */
  next: Promise<void> | undefined;
}

/** A function that lets folders, opened again and again under one path, share their syncs. */
export function sharedSyncs(): (path: string, folder: Folder) => Folder {
  const turns = new Map<string, Turns>();

  function begin(path: string, folder: Folder): Promise<void> {
    const turn: Turns = { now: folder.sync(), next: undefined };
    turns.set(path, turn);
    const over = (): void => {
      if (turn.next === undefined) turns.delete(path);
    };
    turn.now.then(over, over);
    return turn.now;
  }

  return (path, folder) => ({
    sync() {
      const turn = turns.get(path);
      if (!turn) return begin(path, folder);
      // A sync that failed says nothing about the next one.
      return turn.next ??= turn.now.then(() => begin(path, folder), () => begin(path, folder));
    },
    close: () => folder.close(),
  });
}
