/** A buyer who signs one payment, presents it as often as needed, to any seller of a fleet, and writes down what it sees. */
import { signExactEvm } from 'counterfoil/payment';
import {
  decodeHex,
  decodePaymentRequired,
  decodePaymentResponse,
  encodeHex,
  encodePaymentSignature,
  type PaymentRequired,
} from 'counterfoil/wire';
import type { Ground } from '../fleet/ground.ts';
import { sharedNowMs } from '../seller/journal.ts';

/** One request with the payment, and what came back. */
export type Seen = {
  readonly atMs: number;
  readonly doneMs: number;
  /** Name of the seller that was asked. */
  readonly seat: string;
  /** `cut` where no whole answer came, `mute` where none came at all in a time in which any seller answers. */
  readonly status: number | 'cut' | 'mute';
  readonly code: string | undefined;
  /** It carries PAYMENT-REQUIRED: it asks for another payment. */
  readonly invites: boolean;
  /** Of its PAYMENT-RESPONSE, where that says that money moved. */
  readonly transaction: string | undefined;
  readonly text: string;
};

export type Payment = { readonly payer: string; readonly nonce: string; readonly header: string };

/** No seller is silent for so long; longer than anything that a round does to one. */
const answerLimitMs = 60_000;

/** Asks for the terms of a URL and signs a payment for them. */
export async function signFor(ground: Ground, buyer: number, url: string): Promise<Payment> {
  const { devnet, world } = ground;
  const account = devnet.signer(buyer);
  const required = await termsAt(url);
  const [requirement] = required.accepts;
  const { sign } = account;
  if (requirement === undefined || sign === undefined) throw new TypeError('Nothing can be signed.');
  const nonce = world.random(32);
  const payment = await signExactEvm({
    requirement,
    signer: {
      address: account.address,
      signDigest: async (digest) => bytesOf(await sign({ hash: encodeHex(digest) })),
    },
    nowMs: world.nowMs(),
    random: world.random,
    resource: required.resource,
    nonce,
  });
  return { payer: account.address, nonce: encodeHex(nonce), header: encodePaymentSignature(payment) };
}

async function termsAt(url: string): Promise<PaymentRequired> {
  const response = await fetch(url, { signal: AbortSignal.timeout(answerLimitMs) });
  await response.arrayBuffer();
  const required = decodePaymentRequired(response.headers.get('payment-required') ?? '');
  if (!required.ok) throw new TypeError(`${response.status} without terms.`);
  return required.value;
}

function bytesOf(hex: string): Uint8Array {
  const bytes = decodeHex(hex);
  if (bytes === undefined) throw new TypeError('A signature is no hex.');
  return bytes;
}

/** Presents the payment once; `leave` lets the buyer go away before it has its answer. */
export async function present(
  target: { readonly seat: string; readonly url: string },
  payment: Payment,
  leave?: AbortSignal,
): Promise<Seen> {
  const { seat, url } = target;
  const atMs = sharedNowMs();
  const limit = AbortSignal.timeout(answerLimitMs);
  const signal = leave === undefined ? limit : AbortSignal.any([limit, leave]);
  try {
    const response = await fetch(url, { headers: { 'payment-signature': payment.header }, signal });
    const text = await response.text();
    return { atMs, doneMs: sharedNowMs(), seat, status: response.status, text, ...readHead(response, text) };
  } catch {
    const status = limit.aborted ? 'mute' : 'cut';
    const nothing = { code: undefined, invites: false, transaction: undefined, text: '' };
    return { atMs, doneMs: sharedNowMs(), seat, status, ...nothing };
  }
}

function readHead(response: Response, text: string): Pick<Seen, 'code' | 'invites' | 'transaction'> {
  const settled = response.headers.get('payment-response');
  const told = settled === null ? undefined : decodePaymentResponse(settled);
  return {
    code: codeOf(response, text),
    invites: response.headers.has('payment-required'),
    transaction: told?.ok === true && told.value.success ? told.value.transaction : undefined,
  };
}

function codeOf(response: Response, text: string): string | undefined {
  if (response.headers.get('content-type') !== 'application/problem+json') return undefined;
  const problem: unknown = JSON.parse(text);
  const code =
    typeof problem === 'object' && problem !== null && 'code' in problem ? problem.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
