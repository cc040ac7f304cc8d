/**
 * Reads the payload of the exact scheme on EVM chains (formats 2.2). One authorization has one reading: members
 * that do not belong, spellings with a second form and sizes without need are refused before a key is made (C05,
 * G02), and what is forwarded to a facilitator is this reading, never the buyer's text.
 */
import { ecdsaSignatureLength } from '../crypto/secp256k1.ts';
import type { Outcome, Refusal } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';
import { parseAmount } from '../wire/amount.ts';
import { eip155ChainId, parseNetwork } from '../wire/caip.ts';
import { decodeHex, encodeHex, parseAddress, parseBytes32 } from '../wire/hex.ts';
import type { Json, JsonObject, PaymentPayload, PaymentRequirements } from '../wire/v2.ts';
import { eip3009Key } from './key.ts';

/** An EIP-3009 payment in its one reading: hex in lower case, times in Unix seconds, money in atomic units. */
export type ExactEvmPayment = {
  readonly scheme: 'exact';
  readonly method: 'eip3009';
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  readonly amount: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: string;
  readonly signature: Uint8Array;
  /** `contract` is everything that only the payer's own contract can judge (EIP-1271, EIP-6492). */
  readonly signatureKind: 'ecdsa' | 'contract';
  /** The payment key (formats 12.2). */
  readonly key: string;
  /** The payload to forward. */
  readonly payload: JsonObject;
};

/** Octets; an EIP-6492 wrapper with its factory call fits, and the 12 KiB header hardly holds more. */
const maxSignatureLength = 4096;
/** The last 32 octets of a signature by a contract that is not deployed yet (EIP-6492). */
const counterfactualSuffix = '6492'.repeat(16);

/** True for the signature of a contract that need not exist yet: only then may its payer have no code. */
export function isCounterfactual(payment: Pick<ExactEvmPayment, 'signature'>): boolean {
  return encodeHex(payment.signature.subarray(-32)).endsWith(counterfactualSuffix);
}

const payloadMembers = ['signature', 'authorization'];
const authorizationMembers = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'];
/** A member that tells another transfer method of the same scheme (formats 2.2). */
const otherMethods = ['permit2Authorization', 'delegationManager'];

type Authorization = Pick<
  ExactEvmPayment,
  'payer' | 'payTo' | 'amount' | 'validAfter' | 'validBefore' | 'nonce'
>;

/** Reads an exact EVM payment, or refuses it as malformed or as a scheme or method that is not served here. */
export function parseExactEvm(payment: PaymentPayload): Outcome<ExactEvmPayment> {
  const { accepted } = payment;
  const unserved = unservedMember(accepted, payment.payload);
  if (unserved !== undefined) return refuse('scheme_unsupported', { fields: [unserved] });
  if (eip155ChainId(accepted.network) === undefined) return malformed('accepted.network');
  const asset = parseAddress(accepted.asset);
  if (asset === undefined) return malformed('accepted.asset');

  const members = exactMembers(payment.payload, payloadMembers);
  if (members === undefined) return malformed('payload');
  const signature = parseSignature(textOf(members.signature));
  if (signature === undefined) return malformed('payload.signature');
  const authorization = parseAuthorization(members.authorization);
  if (!authorization.ok) return authorization;

  const { payer: from, nonce } = authorization.value;
  return succeed({
    scheme: 'exact',
    method: 'eip3009',
    network: accepted.network,
    asset,
    ...authorization.value,
    signature,
    signatureKind: signatureKind(signature),
    key: eip3009Key({ network: accepted.network, asset, from, nonce }),
    payload: encodePayload(authorization.value, signature),
  });
}

/** The payload of an EIP-3009 payment as it goes on the wire (formats 1.2): all members are strings. */
export function encodePayload(authorization: Authorization, signature: Uint8Array): JsonObject {
  return {
    signature: encodeHex(signature),
    authorization: {
      from: authorization.payer,
      to: authorization.payTo,
      value: authorization.amount.toString(),
      validAfter: authorization.validAfter.toString(),
      validBefore: authorization.validBefore.toString(),
      nonce: authorization.nonce,
    },
  };
}

/**
 * Checks that the signed transfer is the one we ask for (B08): to us, of our asset, exactly our amount. The
 * requirement is our own entry; gives the refusal, or undefined where everything fits.
 */
export function checkPayment(
  payment: ExactEvmPayment,
  requirement: PaymentRequirements,
): Refusal | undefined {
  const fields: string[] = [];
  if (requirement.scheme !== payment.scheme) fields.push('scheme');
  if (requirement.network !== payment.network) fields.push('network');
  if (parseAddress(requirement.asset) !== payment.asset) fields.push('asset');
  if (requirement.amount !== payment.amount) fields.push('authorization.value');
  if (parseAddress(requirement.payTo) !== payment.payTo) fields.push('authorization.to');
  return fields.length === 0 ? undefined : { code: 'requirement_mismatch', fields };
}

function malformed(field: string): ReturnType<typeof refuse> {
  return refuse('payment_malformed', { fields: [field] });
}

function unservedMember(accepted: PaymentRequirements, payload: JsonObject): string | undefined {
  if (accepted.scheme !== 'exact') return 'accepted.scheme';
  const network = parseNetwork(accepted.network);
  if (network !== undefined && network.namespace !== 'eip155') return 'accepted.network';
  const method = accepted.extra.assetTransferMethod ?? null;
  if (method !== null && method !== 'eip3009') return 'accepted.extra.assetTransferMethod';
  return otherMethods.some((name) => Object.hasOwn(payload, name)) ? 'payload' : undefined;
}

function parseAuthorization(value: Json | undefined): Outcome<Authorization> {
  const members = exactMembers(value, authorizationMembers);
  if (members === undefined) return malformed('payload.authorization');
  const payer = parseAddress(textOf(members.from));
  if (payer === undefined) return malformed('payload.authorization.from');
  const payTo = parseAddress(textOf(members.to));
  if (payTo === undefined) return malformed('payload.authorization.to');
  const amount = parseAmount(textOf(members.value));
  if (amount === undefined) return malformed('payload.authorization.value');
  // The times are uint256 as the amount is, and have the same one spelling.
  const validAfter = parseAmount(textOf(members.validAfter));
  if (validAfter === undefined) return malformed('payload.authorization.validAfter');
  const validBefore = parseAmount(textOf(members.validBefore));
  if (validBefore === undefined) return malformed('payload.authorization.validBefore');
  const nonce = parseBytes32(textOf(members.nonce));
  if (nonce === undefined) return malformed('payload.authorization.nonce');
  return succeed({ payer, payTo, amount, validAfter, validBefore, nonce });
}

/** The value if it is an object with exactly these members, whatever their order. */
function exactMembers(value: Json | undefined, names: readonly string[]): JsonObject | undefined {
  if (!isObject(value) || Object.keys(value).length !== names.length) return undefined;
  return names.every((name) => Object.hasOwn(value, name)) ? value : undefined;
}

/** A member that is no text reads as empty, which no parser here accepts. */
function textOf(member: Json | undefined): string {
  return typeof member === 'string' ? member : '';
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseSignature(text: string): Uint8Array | undefined {
  if (text.length > 2 + 2 * maxSignatureLength) return undefined;
  const signature = decodeHex(text);
  return signature === undefined || signature.length === 0 ? undefined : signature;
}

function signatureKind(signature: Uint8Array): 'ecdsa' | 'contract' {
  if (signature.length !== ecdsaSignatureLength) return 'contract';
  return encodeHex(signature).endsWith(counterfactualSuffix) ? 'contract' : 'ecdsa';
}
