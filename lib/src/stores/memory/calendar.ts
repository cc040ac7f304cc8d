/**
 * Keys in the order of a moment each: a binary heap whose outdated entries are dropped when they surface. Pruning
 * costs what it prunes and never a walk over every record.
 */

type Entry = { readonly atMs: number; readonly key: string };

export type Calendar = {
  /** Notes that `key` is to be looked at after `atMs`. */
  readonly note: (key: string, atMs: number | undefined) => void;
  /** Keys whose moment lies before `nowMs`, earliest first. */
  readonly passed: (nowMs: number, limit: number) => readonly string[];
};

/** `current` tells the moment of a key as it is now; entries that disagree with it are outdated. */
export function createCalendar(current: (key: string) => number | undefined): Calendar {
  const heap: Entry[] = [];
  const noted = new Map<string, number>();
  const note = (key: string, atMs: number | undefined): void => {
    if (atMs === undefined || noted.get(key) === atMs) return;
    noted.set(key, atMs);
    push(heap, { atMs, key });
  };
  const passed = (nowMs: number, limit: number): readonly string[] => {
    // A moment that came back may be in the heap twice.
    const found = new Map<string, Entry>();
    while (found.size < limit) {
      const top = heap[0];
      if (top === undefined || top.atMs >= nowMs) break;
      pop(heap);
      if (noted.get(top.key) !== top.atMs) continue;
      if (current(top.key) === top.atMs) found.set(top.key, top);
      else noted.delete(top.key);
    }
    // They stay noted until their record has really changed.
    for (const entry of found.values()) push(heap, entry);
    return [...found.keys()];
  };
  return { note, passed };
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.push(entry) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!swapIfEarlier(heap, at, parent)) return;
    at = parent;
  }
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  let at = 0;
  for (;;) {
    const child = earlierChild(heap, at);
    if (!swapIfEarlier(heap, child, at)) return;
    at = child;
  }
}

function earlierChild(heap: readonly Entry[], at: number): number {
  const left = 2 * at + 1;
  const right = heap[left + 1];
  return right !== undefined && right.atMs < (heap[left]?.atMs ?? 0) ? left + 1 : left;
}

function swapIfEarlier(heap: Entry[], lower: number, upper: number): boolean {
  const below = heap[lower];
  const above = heap[upper];
  if (below === undefined || above === undefined || below.atMs >= above.atMs) return false;
  heap[lower] = above;
  heap[upper] = below;
  return true;
}
