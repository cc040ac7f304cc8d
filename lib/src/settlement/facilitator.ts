/**
 * Asks a facilitator, and believes only what is well formed: a strict boolean, the network and the payer that were
 * signed, a transaction that can exist (F02, F03). Silence and nonsense are `unknown`, never `failed`.
 * Source: x402 specification v2, sections 5.3, 5.4 and 7.
 */

import { isJsonObject } from '../wire/json.ts';
import type { Json, JsonObject, PaymentRequirements } from '../wire/v2.ts';
import { knownReason, reasonClass } from './reasons.ts';

/** One call, whatever carries it. `unsent` is said only where no byte can have left. */
export type TransportResult =
  | { readonly kind: 'answer'; readonly status: number; readonly body: Json | undefined }
  | { readonly kind: 'unsent' }
  | { readonly kind: 'failed'; readonly why: string };

export type FacilitatorCall =
  | { readonly call: 'supported' }
  | { readonly call: 'verify' | 'settle'; readonly body: JsonObject; readonly timeoutMs: number };

export type FacilitatorTransport = (call: FacilitatorCall, signal?: AbortSignal) => Promise<TransportResult>;

/** What is asked about: the payment to forward, and what was signed, to hold the answer against. */
export type FacilitatorQuestion = {
  /** The PaymentPayload to forward, as JSON. */
  readonly payment: JsonObject;
  /** The requirement as JSON. */
  readonly requirement: JsonObject;
  readonly expected: Pick<PaymentRequirements, 'network' | 'amount'> & { readonly payer: string };
  readonly timeoutMs: number;
};

export type SupportedKind = {
  readonly x402Version: number;
  readonly scheme: string;
  readonly network: string;
};

export type SupportedAnswer =
  | { readonly kind: 'supported'; readonly kinds: readonly SupportedKind[] }
  | { readonly kind: 'unavailable'; readonly why: string };

export type VerifyAnswer =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly why: string };

/** `look_up`: it said no, in words that do not prove that nothing moved. */
export type SettleAnswer =
  | { readonly kind: 'settled'; readonly transaction: string; readonly amount: bigint }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'look_up'; readonly reason: string; readonly transaction?: string }
  | { readonly kind: 'pending'; readonly transaction: string }
  | { readonly kind: 'unsent' }
  | { readonly kind: 'lost'; readonly why: string };

export type Facilitator = {
  readonly supported: () => Promise<SupportedAnswer>;
  readonly verify: (question: FacilitatorQuestion, signal?: AbortSignal) => Promise<VerifyAnswer>;
  readonly settle: (question: FacilitatorQuestion) => Promise<SettleAnswer>;
};

/** A hash of nothing but zeros names no transaction. */
const transactionShape = /^0x(?!0{64}$)[0-9a-fA-F]{64}$/;
/** A facilitator that lists more kinds than this is not one that we read to the end. */
const maxKinds = 2_000;

/** The strict reading of a facilitator behind any transport. */
export function createFacilitator(transport: FacilitatorTransport): Facilitator {
  return {
    supported: async () => readSupported(await transport({ call: 'supported' })),
    verify: async (question, signal) =>
      readVerify(
        await transport({ call: 'verify', body: bodyOf(question), timeoutMs: question.timeoutMs }, signal),
        question,
      ),
    settle: async (question) =>
      readSettle(
        await transport({ call: 'settle', body: bodyOf(question), timeoutMs: question.timeoutMs }),
        question,
      ),
  };
}

function bodyOf(question: FacilitatorQuestion): JsonObject {
  return { x402Version: 2, paymentPayload: question.payment, paymentRequirements: question.requirement };
}

function readSupported(result: TransportResult): SupportedAnswer {
  if (result.kind !== 'answer')
    return { kind: 'unavailable', why: result.kind === 'failed' ? result.why : 'unreachable' };
  if (result.status !== 200) return { kind: 'unavailable', why: `status ${result.status}` };
  const kinds = isJsonObject(result.body) ? result.body.kinds : undefined;
  if (!Array.isArray(kinds) || kinds.length > maxKinds)
    return { kind: 'unavailable', why: 'no list of kinds' };
  return { kind: 'supported', kinds: kinds.flatMap(readKind) };
}

function readKind(kind: Json): readonly SupportedKind[] {
  if (!isJsonObject(kind)) return [];
  const { x402Version, scheme, network } = kind;
  if (typeof x402Version !== 'number' || typeof scheme !== 'string' || typeof network !== 'string') return [];
  return [{ x402Version, scheme, network }];
}

/** Whatever the body says: 429 and its like come from what stands before the facilitator, and judge no payment (S14). */
function failedStatus(status: number): boolean {
  return status >= 500 || status === 429;
}

function readVerify(result: TransportResult, question: FacilitatorQuestion): VerifyAnswer {
  if (result.kind === 'unsent') return { kind: 'unavailable', why: 'unreachable' };
  if (result.kind === 'failed') return { kind: 'unavailable', why: result.why };
  const body = result.body;
  if (!isJsonObject(body) || failedStatus(result.status))
    return { kind: 'unavailable', why: `status ${result.status}` };
  if (body.isValid === true && result.status === 200) {
    return samePayer(body.payer, question.expected.payer)
      ? { kind: 'valid' }
      : { kind: 'unavailable', why: 'another payer' };
  }
  if (body.isValid === false) return { kind: 'invalid', reason: knownReason(body.invalidReason) };
  return { kind: 'unavailable', why: 'no verdict' };
}

function readSettle(result: TransportResult, question: FacilitatorQuestion): SettleAnswer {
  if (result.kind === 'unsent') return { kind: 'unsent' };
  if (result.kind === 'failed') return { kind: 'lost', why: result.why };
  const body = result.body;
  if (!isJsonObject(body) || failedStatus(result.status))
    return { kind: 'lost', why: `status ${result.status}` };
  if (body.success === true && result.status === 200) return readSuccess(body, question);
  if (body.success === false) return readFailure(body);
  return { kind: 'lost', why: 'no verdict' };
}

function readSuccess(body: JsonObject, question: FacilitatorQuestion): SettleAnswer {
  const { network, payer, transaction, amount } = body;
  const { expected } = question;
  if (typeof transaction !== 'string' || !transactionShape.test(transaction))
    return { kind: 'lost', why: 'no transaction' };
  if (network !== expected.network) return { kind: 'lost', why: 'another network' };
  if (!samePayer(payer, expected.payer)) return { kind: 'lost', why: 'another payer' };
  if (amount !== undefined && amount !== null && amount !== '' && amount !== expected.amount.toString()) {
    return { kind: 'lost', why: 'another amount' };
  }
  return { kind: 'settled', transaction: transaction.toLowerCase(), amount: expected.amount };
}

function readFailure(body: JsonObject): SettleAnswer {
  const reason = knownReason(body.errorReason);
  const named = typeof body.transaction === 'string' && transactionShape.test(body.transaction);
  const transaction =
    named && typeof body.transaction === 'string' ? body.transaction.toLowerCase() : undefined;
  switch (reasonClass(reason)) {
    case 'pending':
      return transaction === undefined ? { kind: 'look_up', reason } : { kind: 'pending', transaction };
    case 'definite':
      // A definite word that names a transaction contradicts itself.
      return body.transaction === '' || body.transaction === undefined || body.transaction === null
        ? { kind: 'refused', reason }
        : { kind: 'look_up', reason, ...(transaction === undefined ? {} : { transaction }) };
    case 'look_up':
      return { kind: 'look_up', reason, ...(transaction === undefined ? {} : { transaction }) };
    default:
      return { kind: 'lost', why: 'no verdict' };
  }
}

/** A facilitator may leave the payer out; one that it names must be the signer. */
function samePayer(said: Json | undefined, signed: string): boolean {
  if (said === undefined || said === null || said === '') return true;
  return typeof said === 'string' && said.toLowerCase() === signed.toLowerCase();
}
