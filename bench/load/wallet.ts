/**
 * Signs payments in advance, each under a nonce of its own, for the terms that a server asks. Native code signs where
 * it loads: a few thousand payments then take a fraction of a second.
 */
import { randomBytes } from 'node:crypto';
import { createDigestSigner, type DigestSigner } from 'counterfoil/crypto';
import { signExactEvm } from 'counterfoil/payment';
import { decodePaymentRequired, encodePaymentSignature } from 'counterfoil/wire';
import { isObject } from '../process/read.ts';

export type Wallet = {
  /** Values of PAYMENT-SIGNATURE for the first terms in a PAYMENT-REQUIRED header. */
  readonly sign: (terms: string, count: number) => Promise<readonly string[]>;
};

/** Payments come from this many buyers in turn: a seller rarely has one. */
const buyers = 20;

/** A wallet with fresh keys. */
export async function createWallet(): Promise<Wallet> {
  const native = await loadNative();
  const signers = Array.from({ length: buyers }, () => signerOf(new Uint8Array(randomBytes(32)), native));
  return { sign: (terms, count) => signAll(signers, terms, count) };
}

async function signAll(
  signers: readonly DigestSigner[],
  terms: string,
  count: number,
): Promise<readonly string[]> {
  const required = decodePaymentRequired(terms);
  const requirement = required.ok ? required.value.accepts[0] : undefined;
  if (!required.ok || requirement === undefined) throw new TypeError('The server asks for nothing.');
  const payments: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const signer = signers[at % signers.length];
    if (signer === undefined) break;
    const payment = await signExactEvm({
      requirement,
      signer,
      nowMs: Date.now(),
      random: (length) => new Uint8Array(randomBytes(length)),
      resource: required.value.resource,
    });
    payments.push(encodePaymentSignature(payment));
  }
  return payments;
}

type NativeSign = (digest: Uint8Array, secret: Uint8Array) => unknown;

async function loadNative(): Promise<NativeSign | undefined> {
  try {
    // Never the package's index, which falls back to another library without a word.
    const bindings = 'secp256k1/bindings.js';
    const loaded: unknown = (await import(bindings)).default;
    const sign: unknown = isObject(loaded) ? loaded.ecdsaSign : undefined;
    return typeof sign === 'function' ? (digest, secret) => sign(digest, secret) : undefined;
  } catch {
    return undefined;
  }
}

function signerOf(secret: Uint8Array, native: NativeSign | undefined): DigestSigner {
  const portable = createDigestSigner(secret);
  if (native === undefined) return portable;
  return { address: portable.address, signDigest: (digest) => ethereum(native(digest, secret)) };
}

/** Ethereum's order: r || s || v, v being 27 or 28. */
function ethereum(signed: unknown): Uint8Array {
  if (!isObject(signed) || !(signed.signature instanceof Uint8Array))
    throw new TypeError('Nothing was signed.');
  const octets = new Uint8Array(65);
  octets.set(signed.signature, 0);
  octets[64] = 27 + Number(signed.recid);
  return octets;
}
