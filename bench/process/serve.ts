/**
 * The side of a child process: answers what its parent asks over the IPC channel, and ends when that channel closes,
 * be it that the parent let go or that it was killed. Ctrl-C in a terminal reaches children too; they leave it to the
 * parent.
 */
import { isObject } from './read.ts';

/** Answers one kind of question; what it throws is told to the parent in one line. */
export type Answerer = (input: unknown) => unknown;

/** A child whose parent is gone may tidy up for this long before it ends all the same. */
const closeLimitMs = 4_000;

/** Serves the parent until the channel closes; then runs `close` and ends the process. */
export function serveParent(answerers: Readonly<Record<string, Answerer>>, close: () => Promise<void>): void {
  process.on('SIGINT', () => {});
  process.on('message', (message: unknown) => {
    if (!isObject(message) || typeof message.id !== 'number') return;
    void reply(message.id, async () => {
      const answerer = typeof message.ask === 'string' ? answerers[message.ask] : undefined;
      if (answerer === undefined) throw new TypeError(`unknown question ${String(message.ask)}`);
      return answerer(message.input);
    });
  });
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), closeLimitMs).unref();
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}

async function reply(id: number, answer: () => Promise<unknown>): Promise<void> {
  try {
    say({ id, answer: await answer() });
  } catch (fault) {
    const [line] = String(fault instanceof Error ? fault.message : fault).split('\n', 1);
    say({ id, fault: line });
  }
}

/** The parent may be gone by now; then there is nobody to tell. */
function say(message: object): void {
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}
