/**
 * What a facilitator's reason proves (design section 4). Its text is mapped to a known reason and never passed on:
 * anything else is `unexpected_reason`, which proves nothing.
 */
import type { Json } from '../wire/v2.ts';

/** `definite`: nothing moved, if it answers the only send. `look_up`: only the chain can say. */
export type ReasonClass = 'definite' | 'look_up' | 'pending';

/** Source: x402 v2 section 9, and the codes that the official facilitator emits for exact on EVM. */
const definite: readonly string[] = [
  'insufficient_funds',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_authorization_value_too_low',
  'invalid_exact_evm_authorization_value',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_failed_to_parse_signature',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'invalid_exact_evm_eip3009_not_supported',
  'invalid_exact_evm_payload_undeployed_smart_wallet',
  'invalid_network',
  'invalid_payload',
  'invalid_payment_requirements',
  'invalid_scheme',
  'unsupported_scheme',
  'unsupported_payload_type',
  'unsupported_network',
  'invalid_x402_version',
  'asset_not_deployed_contract',
  'eip6492_factory_not_allowed',
  'permit2_deadline_expired',
  'permit2_not_yet_valid',
  'permit2_allowance_required',
  'permit2_insufficient_balance',
];

const lookUp: readonly string[] = [
  'invalid_exact_evm_nonce_already_used',
  'permit2_invalid_nonce',
  'invalid_transaction_state',
  'invalid_exact_evm_transaction_failed',
  'invalid_exact_evm_transaction_simulation_failed',
  'invalid_exact_evm_transfer_event_mismatch',
  'smart_wallet_deployment_failed',
  'duplicate_settlement',
  'unexpected_verify_error',
  'unexpected_settle_error',
];

const classes: ReadonlyMap<string, ReasonClass> = new Map([
  ...definite.map((reason) => [reason, 'definite'] as const),
  ...lookUp.map((reason) => [reason, 'look_up'] as const),
  ['settlement_pending', 'pending'] as const,
]);

/** Said in place of every reason that is not on the list. */
export const unexpectedReason = 'unexpected_reason';

/** The reason, if it is one that we know; else {@link unexpectedReason}. */
export function knownReason(said: Json | undefined): string {
  return typeof said === 'string' && classes.has(said) ? said : unexpectedReason;
}

/** What the reason proves; an unknown reason proves nothing. */
export function reasonClass(reason: string): ReasonClass {
  return classes.get(reason) ?? 'look_up';
}

/**
 * Words that speak of the facilitator and not of the payment. The official one has no word for a relayer whose nonce
 * was raced (`nonce too low`, `replacement transaction underpriced`) or whose node is down: it says that the transaction
 * failed, and names none, since none was broadcast (S08). What a payer can bring about, as a simulation that fails, is
 * not here.
 */
const faults: ReadonlySet<string> = new Set([
  'unexpected_settle_error',
  'unexpected_verify_error',
  unexpectedReason,
]);

/** True where a settle that proves nothing failed on the facilitator's side, before anything was broadcast (S08, S14). */
export function failsItself(said: { readonly reason: string; readonly transaction?: string }): boolean {
  if (said.transaction !== undefined) return false;
  return faults.has(said.reason) || said.reason === 'invalid_exact_evm_transaction_failed';
}

/** True for the reasons that say that the nonce was spent, by whomever. */
export function saysNonceUsed(reason: string): boolean {
  return reason === 'invalid_exact_evm_nonce_already_used' || reason === 'invalid_transaction_state';
}
