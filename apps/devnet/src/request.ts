/**
 * What a seller may post to the facilitator, parsed once: a version 2 payment and its requirements, `exact` on
 * this chain, paid by an EIP-3009 authorization. Anything else is refused here, before the official code sees it:
 * that code throws on malformed members, and takes Permit2 payments for settled where Permit2 is not deployed.
 */
import type { Network, PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { isAddress, isHex } from 'viem';
import { CHAIN_ID } from './anvil.ts';

/** The CAIP-2 name of the local chain. */
export const NETWORK: Network = `eip155:${CHAIN_ID}`;

/** A request that the official facilitator can judge. */
export type PaymentRequest = {
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: PaymentRequirements;
};

/** The request, or the reason code and one sentence why it is not one. */
export type ParsedRequest =
  | { readonly ok: true; readonly request: PaymentRequest }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/** Digits of the largest uint256. */
const UINT_PATTERN = /^\d{1,78}$/;

/** A signature of a contract wallet may be long; 64 KiB of it is not a signature. */
const MAX_SIGNATURE_CHARS = 131_074;

/** Parses the body of POST /verify and POST /settle. */
export function parseRequest(body: unknown): ParsedRequest {
  if (!isRecord(body)) return refuse('invalid_payload', 'The body must be a JSON object.');
  const { paymentPayload, paymentRequirements } = body;
  if (!isRecord(paymentPayload)) return refuse('invalid_payload', 'paymentPayload must be an object.');
  if (paymentPayload.x402Version !== 2) {
    return refuse('invalid_x402_version', 'Only x402 version 2 is settled here.');
  }
  if (!isRequirements(paymentRequirements)) {
    return refuse(
      'invalid_payment_requirements',
      'paymentRequirements is not a complete set of requirements.',
    );
  }
  if (!isPayload(paymentPayload))
    return refuse('invalid_payload', 'paymentPayload is not a version 2 payment.');
  if (paymentRequirements.scheme !== 'exact') {
    return refuse('unsupported_scheme', 'Only the scheme exact is settled here.');
  }
  if (paymentRequirements.network !== NETWORK) {
    return refuse('invalid_network', `Only payments on ${NETWORK} are settled here.`);
  }
  if (!isAuthorization(paymentPayload.payload)) {
    return refuse('unsupported_payload_type', 'Only EIP-3009 authorizations are settled here.');
  }
  return { ok: true, request: { paymentPayload, paymentRequirements } };
}

/** Whether this is an object with named members. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(reason: string, message: string): ParsedRequest {
  return { ok: false, reason, message };
}

function isPayload(value: Record<string, unknown>): value is Record<string, unknown> & PaymentPayload {
  return isRequirements(value.accepted) && isRecord(value.payload);
}

function isRequirements(value: unknown): value is PaymentRequirements {
  if (!isRecord(value)) return false;
  const named = typeof value.scheme === 'string' && typeof value.network === 'string';
  const sized = isUint(value.amount) && Number.isFinite(value.maxTimeoutSeconds);
  return named && sized && isAccount(value.asset) && isAccount(value.payTo) && isRecord(value.extra ?? {});
}

function isAuthorization(payload: Record<string, unknown>): boolean {
  const { authorization, signature } = payload;
  if (!isRecord(authorization) || 'permit2Authorization' in payload) return false;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const signed = isHex(signature) && signature.length <= MAX_SIGNATURE_CHARS;
  const timed = isUint(value) && isUint(validAfter) && isUint(validBefore);
  return signed && timed && isAccount(from) && isAccount(to) && isHex(nonce) && nonce.length === 66;
}

function isUint(value: unknown): boolean {
  return typeof value === 'string' && UINT_PATTERN.test(value);
}

function isAccount(value: unknown): boolean {
  return typeof value === 'string' && isAddress(value, { strict: false });
}
