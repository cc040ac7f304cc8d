/** A buyer with a real key: reads what a seller asks, and signs it as the stock client does, or bound to its request. */
import { createHash, randomFillSync } from 'node:crypto';
import { type SignOptions, signCommitted, signExactEvm } from 'counterfoil/payment';
import {
  decodeHex,
  decodePaymentRequired,
  encodeHex,
  encodePaymentSignature,
  type PaymentRequired,
  paymentRequiredHeader,
} from 'counterfoil/wire';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Account } from '../actor/chain.ts';
import { type Asked, type Client, headersOf, type Reply } from './client.ts';

export type Buyer = {
  readonly address: `0x${string}`;
  /** Asks without paying; rejects unless the answer is a 402 that asks for a payment. */
  readonly ask: (asked: Asked) => Promise<PaymentRequired>;
  /** A fresh payment for what is asked, as the text of its header; a new nonce every time. */
  readonly sign: (required: PaymentRequired) => Promise<string>;
  /** Asks and signs. */
  readonly pay: (url: string) => Promise<string>;
  /** Asks and signs a payment that commits to this request and no other. */
  readonly commit: (asked: Asked) => Promise<string>;
};

/** A buyer that reaches sellers through `client`. */
export function createBuyer(account: Account, client: Pick<Client, 'send'>): Buyer {
  const key = privateKeyToAccount(account.privateKey);
  const ask = async (asked: Asked): Promise<PaymentRequired> => readRequired(await client.send(asked));
  const sign = async (required: PaymentRequired): Promise<string> => {
    const payment = await signExactEvm({ ...signingOf(key, required), resource: required.resource });
    return encodePaymentSignature(payment);
  };
  return {
    address: account.address,
    ask,
    sign,
    pay: async (url) => sign(await ask({ url })),
    commit: async (asked) => signCommittedTo(key, asked, await ask(asked)),
  };
}

function readRequired(reply: Reply): PaymentRequired {
  const header = reply.headers.get(paymentRequiredHeader);
  const required = header === undefined ? undefined : decodePaymentRequired(header);
  if (reply.status === 402 && required?.ok === true) return required.value;
  throw new Error(`The seller did not ask for a payment: it answered ${reply.status}.`);
}

async function signCommittedTo(
  key: PrivateKeyAccount,
  asked: Asked,
  required: PaymentRequired,
): Promise<string> {
  const { method = 'GET', url, body = '' } = asked;
  const payment = await signCommitted({
    ...signingOf(key, required),
    required,
    request: { method, url, headers: headersOf(asked), body: new TextEncoder().encode(body) },
    sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
  });
  if (!payment.ok) throw new Error(`The request cannot be committed to: ${payment.refusal.code}.`);
  return encodePaymentSignature(payment.value);
}

function signingOf(key: PrivateKeyAccount, required: PaymentRequired): SignOptions {
  const [requirement] = required.accepts;
  if (requirement === undefined) throw new Error('The seller accepts nothing.');
  return {
    requirement,
    nowMs: Date.now(),
    random: (length) => randomFillSync(new Uint8Array(length)),
    signer: { address: key.address, signDigest: (digest) => signDigest(key, digest) },
  };
}

async function signDigest(key: PrivateKeyAccount, digest: Uint8Array): Promise<Uint8Array> {
  const signature = decodeHex(await key.sign({ hash: encodeHex(digest) }));
  if (signature === undefined) throw new Error('The wallet did not give a signature.');
  return signature;
}
