/**
 * Why a store cannot be opened or does not answer. The seller fails closed on every one of them
 * (`store_unavailable`, design section 4); the code tells the operator what to look at.
 */

export type StoreErrorCode =
  /** This store keeps its records in one process, and several were announced. */
  | 'store_not_shared'
  /** The server cannot hold claims as it is: too old, or set up so that it may forget what it acknowledged. */
  | 'store_unsuitable'
  /** Another process held a lock that is needed for longer than the busy time; nothing was written. */
  | 'store_busy'
  /** More requests wait than the store takes in, or the server's memory is used up; nothing was written. */
  | 'store_overloaded'
  | 'store_closed'
  /** The file or its folder cannot be opened, or the server does not let us in; nothing was written. */
  | 'store_unreadable'
  /** The file is not a claim store; it was not touched. */
  | 'store_foreign'
  /** The file, or the schema, was written by a newer version; it was not touched. */
  | 'store_newer'
  /**
   * The file, or the schema, was written by an older version and is to be read only; a store that may write brings it
   * up to date.
   */
  | 'store_older'
  /** The store was opened for reading only, or the server takes no writes. */
  | 'store_read_only'
  /** The file was moved or deleted while it was open; nothing was written. */
  | 'store_moved'
  /** The file, or a row, is damaged. */
  | 'store_corrupt'
  /**
   * The write failed as a whole (disk full, input or output error), or nobody knows what became of it (worker gone,
   * connection lost).
   */
  | 'store_failed';

/** The one error that stores reject with when the world, and not the caller, is the cause. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}
