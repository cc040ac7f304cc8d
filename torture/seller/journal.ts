/**
 * What the sellers of one fleet did, as lines of one file: it outlives the process that wrote them, and several may
 * append at once. Times are those of the machine's monotonic clock, which all its processes share.
 */
import { appendFileSync } from 'node:fs';
import { open } from 'node:fs/promises';

export type Entry = {
  readonly atMs: number;
  /** The process, or the buyer. */
  readonly who: string;
  readonly what: What;
  /** The payment's nonce, where it is about one. */
  readonly nonce?: string;
  /** For a reader; for a run its attempt. */
  readonly text: string;
};

export type What =
  /** The work began, ended, or was told that it does not count any more. */
  | 'run'
  | 'ran'
  | 'lost'
  /** The process is about to be killed, or stands still, at a point. */
  | 'death'
  | 'halt'
  /** Something that it observed or said. */
  | 'event';

/** Milliseconds of the clock that all processes of a machine share. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** Appends one line; it is in the file when this returns, whatever happens to the process then. */
export function writeEntry(path: string, entry: Omit<Entry, 'atMs'>): void {
  appendFileSync(path, `${JSON.stringify({ atMs: sharedNowMs(), ...entry })}\n`);
}

/** Reads what was appended since the last call. */
export function createReader(path: string): () => Promise<readonly Entry[]> {
  let position = 0;
  return async () => {
    const file = await open(path, 'a+');
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(size - position);
      await file.read(bytes, 0, bytes.length, position);
      const end = bytes.lastIndexOf('\n') + 1;
      position += end;
      return bytes.subarray(0, end).toString().split('\n').flatMap(readEntry);
    } finally {
      await file.close();
    }
  };
}

function readEntry(line: string): readonly Entry[] {
  if (line === '') return [];
  const entry: Entry = JSON.parse(line);
  return [entry];
}
