/**
 * The ways a local chain can fail to start or to keep its state, as one closed list of codes.
 * A devnet that cannot boot has no value to return, so these are thrown; everything a payment can run
 * into stays an answer of the facilitator.
 */

/** Why a devnet could not start, save or stop. */
export type FailureCode =
  | 'anvil_missing'
  | 'anvil_failed'
  | 'port_taken'
  | 'state_corrupt'
  | 'state_other_chain'
  | 'state_other_accounts'
  | 'state_changed'
  | 'state_unwritable'
  | 'deployment_failed'
  | 'writer_busy';

/** A failure of the devnet itself, with a stable `code` and a message that says what to do. */
export class DevnetError extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DevnetError';
    this.code = code;
  }
}

/** The text of any thrown value, in one line and without a stack. */
export function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? text;
}

/** The Node error code (`ENOENT`, `EADDRINUSE`) of any thrown value, or `undefined`. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
