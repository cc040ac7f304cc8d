/** A buyer with a real key: reads what a seller asks, and signs it as the stock client does. */
import { randomFillSync } from 'node:crypto';
import { signExactEvm } from 'counterfoil/payment';
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
import type { Client, Reply } from './client.ts';

export type Buyer = {
  readonly address: `0x${string}`;
  /** Asks without paying; rejects unless the answer is a 402 that asks for a payment. */
  readonly ask: (url: string) => Promise<PaymentRequired>;
  /** A fresh payment for what is asked, as the text of its header; a new nonce every time. */
  readonly sign: (required: PaymentRequired) => Promise<string>;
  /** Asks and signs. */
  readonly pay: (url: string) => Promise<string>;
};

/** A buyer that reaches sellers through `client`. */
export function createBuyer(account: Account, client: Pick<Client, 'get'>): Buyer {
  const key = privateKeyToAccount(account.privateKey);
  const ask = async (url: string): Promise<PaymentRequired> => readRequired(await client.get(url));
  const sign = (required: PaymentRequired): Promise<string> => signRequired(key, required);
  return { address: account.address, ask, sign, pay: async (url) => sign(await ask(url)) };
}

function readRequired(reply: Reply): PaymentRequired {
  const header = reply.headers.get(paymentRequiredHeader);
  const required = header === undefined ? undefined : decodePaymentRequired(header);
  if (reply.status === 402 && required?.ok === true) return required.value;
  throw new Error(`The seller did not ask for a payment: it answered ${reply.status}.`);
}

async function signRequired(key: PrivateKeyAccount, required: PaymentRequired): Promise<string> {
  const [requirement] = required.accepts;
  if (requirement === undefined) throw new Error('The seller accepts nothing.');
  const payment = await signExactEvm({
    requirement,
    resource: required.resource,
    nowMs: Date.now(),
    random: (length) => randomFillSync(new Uint8Array(length)),
    signer: { address: key.address, signDigest: (digest) => signDigest(key, digest) },
  });
  return encodePaymentSignature(payment);
}

async function signDigest(key: PrivateKeyAccount, digest: Uint8Array): Promise<Uint8Array> {
  const signature = decodeHex(await key.sign({ hash: encodeHex(digest) }));
  if (signature === undefined) throw new Error('The wallet did not give a signature.');
  return signature;
}
