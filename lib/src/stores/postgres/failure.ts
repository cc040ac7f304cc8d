/**
 * The words of PostgreSQL, of its driver and of the network as our own. Source: PostgreSQL manual, appendix A. Nothing
 * of a connection string ever comes into a message.
 */
import { StoreError, type StoreErrorCode } from '../error.ts';

/** Any failure as a {@link StoreError}; `place` names the server without its password. */
export function asStoreError(cause: unknown, place: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const message = `The claim store ${place} failed: ${wordsOf(cause)}`;
  return new StoreError(codeOf(cause), message, { cause: plain(cause) });
}

/** As {@link asStoreError}, where nothing was asked yet: whatever it is, the store cannot be opened. */
export function asOpeningError(cause: unknown, place: string): StoreError {
  const error = asStoreError(cause, place);
  if (error.code !== 'store_failed') return error;
  return new StoreError('store_unreadable', error.message, { cause: error.cause });
}

/** True where the server has rolled back for the sake of somebody else's step, so that the same may be asked again. */
export function isOvertaken(cause: unknown): boolean {
  const state = stateOf(cause);
  return state === '40001' || state === '40P01';
}

/** True where the server itself has answered, so that the connection is in order; a standby's leads to the wrong one. */
export function isAnswer(cause: unknown): boolean {
  const state = stateOf(cause);
  return state !== undefined && state !== '25006' && !state.startsWith('57P') && !state.startsWith('08');
}

function codeOf(cause: unknown): StoreErrorCode {
  // A record that does not parse was not written by us.
  if (cause instanceof SyntaxError) return 'store_corrupt';
  const state = stateOf(cause) ?? '';
  switch (state) {
    case '40001': // serialization_failure
    case '40P01': // deadlock_detected
    case '55P03': // lock_not_available
    case '57014': // query_canceled
      return 'store_busy';
    case '53300': // too_many_connections
      return 'store_overloaded';
    case '25006': // read_only_sql_transaction
      return 'store_read_only';
    case '42501': // insufficient_privilege
    case '3D000': // invalid_catalog_name
    case '57P03': // cannot_connect_now
      return 'store_unreadable';
    case 'XX001': // data_corrupted
    case 'XX002': // index_corrupted
      return 'store_corrupt';
    default:
      // 28: the server does not know who asks.
      return state.startsWith('28') ? 'store_unreadable' : 'store_failed';
  }
}

/** The five characters that the server sends; errors of the operating system have words instead. */
function stateOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause) || !('severity' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

function wordsOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === '') {
    return cause.errors.map(wordsOf).join('; ');
  }
  return cause instanceof Error ? cause.message : String(cause);
}

/** The driver's own error may hold a connection, and the server's a row of somebody's payment. */
function plain(cause: unknown): Error {
  const state = stateOf(cause);
  return new Error(state === undefined ? wordsOf(cause) : `${wordsOf(cause)} (SQLSTATE ${state})`);
}
