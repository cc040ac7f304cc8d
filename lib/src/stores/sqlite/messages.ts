/** What passes between the store on the main thread and its worker. */

import type { StoreErrorCode } from '../error.ts';
import type { Operation, Questions } from '../operations.ts';

export type WorkerSettings = {
  readonly path: string;
  readonly busyMs: number;
  readonly capacity: number;
  readonly capacityBytes: number;
  /** The file is only looked at. */
  readonly readOnly?: boolean;
  /** Eight octets with the time in Unix milliseconds as a BigInt64; in place of the system clock, for tests. */
  readonly clock?: SharedArrayBuffer;
};

/** One operation on its way; a union in which the question fits the operation. */
export type Call<O extends Operation = Operation> = {
  [P in O]: { readonly id: number; readonly operation: P; readonly question: Questions[P] };
}[O];

export type Failure = { readonly code: StoreErrorCode; readonly message: string };

export type Reply<T = unknown> =
  | { readonly id: number; readonly ok: true; readonly value: T }
  | { readonly id: number; readonly ok: false; readonly failure: Failure };

export type ToWorker =
  | { readonly kind: 'calls'; readonly calls: readonly Call[] }
  | { readonly kind: 'close' };

export type FromWorker<T = unknown> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'replies'; readonly replies: readonly Reply<T>[] };
