/**
 * ECDSA over secp256k1 as Ethereum tokens accept it: 65 octets r || s || v, low s, v 27 or 28 and nothing
 * else (FiatToken's ECRecover; EIP-2). Recovery itself is a `Recover` of the world: native, wasm or this file's.
 *
 * The 64-octet form of EIP-2098 is never converted: the tokens refuse it from a plain account, and a second
 * spelling of the same signature would be a second key to a kept answer. It counts as a contract's signature.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Recover } from '../world.ts';
import { keccak256 } from './keccak.ts';

/** Octets of r || s || v. */
export const ecdsaSignatureLength = 65;

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const halfOrder = curveOrder / 2n;

/** A signature that a token would accept, taken apart; or what is wrong with it. */
export type EcdsaParts =
  | { readonly ok: true; readonly compact: Uint8Array; readonly recovery: 0 | 1 }
  | { readonly ok: false; readonly fault: 'length' | 'recovery_value' | 'scalar_range' | 'high_s' };

/** Takes 65 octets apart under the tokens' own rules; never throws on hostile octets. */
export function splitSignature(signature: Uint8Array): EcdsaParts {
  if (signature.length !== ecdsaSignatureLength) return { ok: false, fault: 'length' };
  const v = signature[64];
  if (v !== 27 && v !== 28) return { ok: false, fault: 'recovery_value' };
  const r = toInteger(signature.subarray(0, 32));
  const s = toInteger(signature.subarray(32, 64));
  if (r === 0n || r >= curveOrder || s === 0n || s >= curveOrder) return { ok: false, fault: 'scalar_range' };
  if (s > halfOrder) return { ok: false, fault: 'high_s' };
  return { ok: true, compact: signature.slice(0, 64), recovery: v === 27 ? 0 : 1 };
}

function toInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(bytes)}`);
}

/** The address (`0x` and 40 lower-case digits) of a public key given as x || y, 64 octets. */
export function publicKeyToAddress(publicKey: Uint8Array): string {
  if (publicKey.length !== 64) throw new TypeError('A public key has 64 octets, x and y.');
  return `0x${bytesToHex(keccak256(publicKey).subarray(12))}`;
}

/** Recovers in plain JavaScript; about 1.5 ms, the fallback where neither native nor wasm code loads. */
export const recoverNoble: Recover = ({ digest, signature, recovery }) => {
  if (digest.length !== 32 || signature.length !== 64) return undefined;
  try {
    const parts = secp256k1.Signature.fromBytes(signature, 'compact').addRecoveryBit(recovery);
    return parts.recoverPublicKey(digest).toBytes(false).slice(1);
  } catch {
    // noble throws where r names no point of the curve or the result is the point at infinity.
    return undefined;
  }
};

/** Something that signs 32-octet digests for one address; the signature has 65 octets, r || s || v. */
export type DigestSigner = {
  /** `0x` and 40 hex digits. */
  readonly address: string;
  readonly signDigest: (digest: Uint8Array) => Uint8Array | Promise<Uint8Array>;
};

/** A signer that holds its 32-octet secret key in memory: for demonstrations, tests and small wallets. */
export function createDigestSigner(secretKey: Uint8Array): DigestSigner {
  const publicKey = secp256k1.getPublicKey(secretKey, false).slice(1);
  return {
    address: publicKeyToAddress(publicKey),
    signDigest(digest) {
      const signed = secp256k1.sign(digest, secretKey, { prehash: false, format: 'recovered', lowS: true });
      // noble's order is recovery || r || s; Ethereum's is r || s || v.
      const signature = new Uint8Array(ecdsaSignatureLength);
      signature.set(signed.subarray(1), 0);
      signature[64] = 27 + (signed[0] ?? 0);
      return signature;
    },
  };
}
