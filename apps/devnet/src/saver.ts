/**
 * Keeps a state file up to date while the chain runs: one save at a time, only when the chain has moved, and
 * never for more than about a twentieth of the time, because a dump grows with the history of the chain.
 */
import { DevnetError, explain } from './failure.ts';
import { type StateAbout, writeState } from './state.ts';

/** A killed devnet loses at most about this much, as a reorganisation of a real chain would. */
const SAVE_EVERY_MS = 1_000;

/** A save that took t is not followed by another before this many times t. */
const REST_FACTOR = 20;

/** What a saver needs: a mark that changes with the chain (its latest hash), its dump, and where to put it. */
export type SaverOptions = {
  readonly file: string;
  readonly about: StateAbout;
  readonly known: string | undefined;
  /** Milliseconds between looks at the chain; a second when not said. */
  readonly everyMs?: number;
  mark(): Promise<string>;
  dump(): Promise<Uint8Array>;
  warn(text: string): void;
};

/** A running saver: `save` writes now, `stop` ends the timer without a last save. */
export type Saver = {
  save(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts saving in the background; the first `save` of a new file also proves that it can be written. */
export function startSaver(options: SaverOptions): Saver {
  let digest = options.known;
  let saved: string | undefined;
  let busy: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const write = async (): Promise<void> => {
    const mark = await options.mark();
    const dump = await options.dump();
    digest = await writeState(options.file, { about: options.about, dump, expected: digest });
    saved = mark;
  };
  const save = (): Promise<void> => {
    const next = busy.then(write);
    busy = next.catch(() => {});
    return next;
  };
  const saveIfMoved = async (): Promise<void> => {
    if ((await options.mark()) !== saved) await save();
  };
  const tick = async (): Promise<void> => {
    const began = performance.now();
    await saveIfMoved().catch((error: unknown) =>
      options.warn(`The chain's state was not saved: ${explain(error)}`),
    );
    schedule((performance.now() - began) * REST_FACTOR);
  };
  const schedule = (restMs: number): void => {
    if (stopped) return;
    timer = setTimeout(() => void tick(), Math.max(options.everyMs ?? SAVE_EVERY_MS, restMs));
  };

  schedule(0);
  return {
    save,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await busy;
    },
  };
}

/** The bytes of a 0x hex dump as anvil answers it, or a {@link DevnetError}. */
export function dumpBytes(answer: unknown): Uint8Array {
  if (typeof answer !== 'string' || !answer.startsWith('0x')) {
    throw new DevnetError('anvil_failed', 'anvil did not answer with a dump of its state.');
  }
  return Buffer.from(answer.slice(2), 'hex');
}
