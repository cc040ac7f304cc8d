/**
 * The words of Redis, of its client and of the network as our own. Nothing of a URL but its host ever comes into a
 * message.
 */
import { StoreError, type StoreErrorCode } from '../error.ts';

/** Any failure as a {@link StoreError}; `place` names the server without its password. */
export function asStoreError(cause: unknown, place: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const words = wordsOf(cause);
  // A record that does not parse was not written by us.
  const code = cause instanceof SyntaxError ? 'store_corrupt' : codeOf(words);
  return new StoreError(code, `The claim store ${place} failed: ${words}`, { cause: new Error(words) });
}

/** As {@link asStoreError}, where nothing was asked yet: whatever it is, the store cannot be opened. */
export function asOpeningError(cause: unknown, place: string): StoreError {
  const error = asStoreError(cause, place);
  if (error.code !== 'store_failed') return error;
  return new StoreError('store_unreadable', error.message, { cause: error.cause });
}

/** True where the server has lost its scripts, so that the text has to be sent again; nothing was run. */
export function isScriptGone(cause: unknown): boolean {
  return cause instanceof Error && cause.message.startsWith('NOSCRIPT');
}

/** True where what answers is a replica now: the primary is elsewhere, and a new connection may find it. */
export function isDemoted(cause: unknown): boolean {
  return cause instanceof Error && serverCode(cause.message) === 'READONLY';
}

/** With these, and no other, the server has refused before it wrote anything. */
const codes: ReadonlyMap<string, StoreErrorCode> = new Map([
  ['READONLY', 'store_read_only'], // a replica: the primary moved
  ['MISCONF', 'store_read_only'], // writes are refused since the last one to disk failed
  ['NOREPLICAS', 'store_read_only'], // min-replicas-to-write is not met
  ['OOM', 'store_overloaded'],
  ['BUSY', 'store_busy'],
  ['LOADING', 'store_busy'],
  ['MASTERDOWN', 'store_busy'],
  ['CLUSTERDOWN', 'store_busy'],
  ['TRYAGAIN', 'store_busy'],
  ['NOAUTH', 'store_unreadable'],
  ['WRONGPASS', 'store_unreadable'],
  ['NOPERM', 'store_unreadable'],
  ['MOVED', 'store_unreadable'], // a node of a cluster that does not hold our slot
  ['ASK', 'store_unreadable'],
  ['WRONGTYPE', 'store_corrupt'],
]);

function codeOf(words: string): StoreErrorCode {
  if (words === notSent) return 'store_unreadable';
  return codes.get(serverCode(words) ?? '') ?? 'store_failed';
}

/** Redis 7 begins with the code; before that, an error inside a script names the script and the line first. */
function serverCode(words: string): string | undefined {
  const first = /^[A-Z]+/.exec(words)?.[0];
  if (first !== 'ERR') return first;
  return /@user_script: ?(?:\d+: )?(?:@user_script: ?\d+: )?-?([A-Z]+)\b/.exec(words)?.[1];
}

const notSent = 'it is not connected.';
const answerLost = 'the connection broke before the answer came.';

/** The client's own words speak of its options, and the server's of its scripts. */
function wordsOf(cause: unknown): string {
  const words = cause instanceof Error ? cause.message : String(cause);
  if (words.startsWith('Stream isn')) return notSent;
  if (/max retries per request|Connection is closed|Command aborted/.test(words)) return answerLost;
  return words.replace(/ script: [0-9a-f]{40},?.*$/s, '');
}
