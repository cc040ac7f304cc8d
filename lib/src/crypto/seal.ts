/**
 * Kept answers at rest (design 9.3). The body is sealed under a random key, which is wrapped twice: under the
 * octets of the payment's signature, so that only who signed can read it, and under the seller's store key, for
 * deliveries to a later payment of the same buyer and for operators. Neither key lies in the database.
 *
 * Layout, version 1: 01 | salt 32 | nonce 12 | wrapped for signature 48 | wrapped for store 48 | sealed body.
 * Every key is derived with the fresh salt and used once, so one nonce serves the three encryptions.
 * Everything is bound to the payment key, to the version and to its own place in the layout.
 */
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { World } from '../world.ts';

/** Octets of the seller's store key. */
export const storeKeyLength = 32;

const version = 1;
const keyLength = 32;
const saltLength = 32;
const nonceLength = 12;
const tagLength = 16;
const wrappedLength = keyLength + tagLength;
const saltAt = 1;
const nonceAt = saltAt + saltLength;
const firstWrapAt = nonceAt + nonceLength;
const secondWrapAt = firstWrapAt + wrappedLength;
const bodyAt = secondWrapAt + wrappedLength;
/** A text sealed under the store key alone has no wrapped keys: 02 | salt 32 | nonce 12 | sealed. */
const plainVersion = 2;

type Sealing = Pick<World, 'random' | 'cipher'>;
type Opening = Pick<World, 'cipher'>;
type Place = 'signature' | 'store' | 'body' | 'record';

/** Seals an answer for the holder of `signature` and for the holder of `storeKey`; `bound` is the payment key. */
export function sealAnswer(
  input: {
    readonly plain: Uint8Array;
    readonly signature: Uint8Array;
    readonly storeKey: Uint8Array;
    readonly bound: string;
  },
  world: Sealing,
): Uint8Array {
  checkStoreKey(input.storeKey);
  const bodyKey = world.random(keyLength);
  const salt = world.random(saltLength);
  const nonce = world.random(nonceLength);
  const wrap = (place: 'signature' | 'store', secret: Uint8Array): Uint8Array =>
    world.cipher.seal({
      key: derive(place, secret, salt),
      nonce,
      plain: bodyKey,
      bound: boundTo(place, input.bound),
    });
  return concatBytes(
    Uint8Array.of(version),
    salt,
    nonce,
    wrap('signature', input.signature),
    wrap('store', input.storeKey),
    world.cipher.seal({ key: bodyKey, nonce, plain: input.plain, bound: boundTo('body', input.bound) }),
  );
}

/** Opens a kept answer with the octets of the payment's signature; undefined when altered or not theirs. */
export function openWithSignature(
  input: { readonly sealed: Uint8Array; readonly signature: Uint8Array; readonly bound: string },
  world: Opening,
): Uint8Array | undefined {
  return openAnswer({ ...input, place: 'signature', secret: input.signature }, world);
}

/** Opens a kept answer with the seller's store key; undefined when altered or sealed under another key. */
export function openWithStoreKey(
  input: { readonly sealed: Uint8Array; readonly storeKey: Uint8Array; readonly bound: string },
  world: Opening,
): Uint8Array | undefined {
  checkStoreKey(input.storeKey);
  return openAnswer({ ...input, place: 'store', secret: input.storeKey }, world);
}

/** Seals what only the seller may read again, as the payment payload kept for a re-send (design 9.4). */
export function sealRecord(
  input: { readonly plain: Uint8Array; readonly storeKey: Uint8Array; readonly bound: string },
  world: Sealing,
): Uint8Array {
  checkStoreKey(input.storeKey);
  const salt = world.random(saltLength);
  const nonce = world.random(nonceLength);
  const key = derive('record', input.storeKey, salt);
  const sealed = world.cipher.seal({
    key,
    nonce,
    plain: input.plain,
    bound: boundTo('record', input.bound),
  });
  return concatBytes(Uint8Array.of(plainVersion), salt, nonce, sealed);
}

/** Opens what {@link sealRecord} sealed; undefined when altered or sealed under another key. */
export function openRecord(
  input: { readonly sealed: Uint8Array; readonly storeKey: Uint8Array; readonly bound: string },
  world: Opening,
): Uint8Array | undefined {
  checkStoreKey(input.storeKey);
  const { sealed } = input;
  if (sealed[0] !== plainVersion || sealed.length < firstWrapAt + tagLength) return undefined;
  return world.cipher.open({
    key: derive('record', input.storeKey, sealed.subarray(saltAt, nonceAt)),
    nonce: sealed.subarray(nonceAt, firstWrapAt),
    sealed: sealed.subarray(firstWrapAt),
    bound: boundTo('record', input.bound),
  });
}

function openAnswer(
  input: {
    readonly sealed: Uint8Array;
    readonly place: 'signature' | 'store';
    readonly secret: Uint8Array;
    readonly bound: string;
  },
  world: Opening,
): Uint8Array | undefined {
  const { sealed, place } = input;
  if (sealed[0] !== version || sealed.length < bodyAt + tagLength) return undefined;
  const nonce = sealed.subarray(nonceAt, firstWrapAt);
  const wrapped =
    place === 'signature'
      ? sealed.subarray(firstWrapAt, secondWrapAt)
      : sealed.subarray(secondWrapAt, bodyAt);
  const bodyKey = world.cipher.open({
    key: derive(place, input.secret, sealed.subarray(saltAt, nonceAt)),
    nonce,
    sealed: wrapped,
    bound: boundTo(place, input.bound),
  });
  if (bodyKey === undefined) return undefined;
  const bound = boundTo('body', input.bound);
  return world.cipher.open({ key: bodyKey, nonce, sealed: sealed.subarray(bodyAt), bound });
}

function derive(place: Place, secret: Uint8Array, salt: Uint8Array): Uint8Array {
  return hkdf(sha256, secret, salt, utf8ToBytes(`counterfoil:seal:1:${place}`), keyLength);
}

function boundTo(place: Place, bound: string): Uint8Array {
  return utf8ToBytes(`counterfoil:seal:1:${place}\n${bound}`);
}

function checkStoreKey(key: Uint8Array): void {
  if (key.length !== storeKeyLength) throw new TypeError(`A store key has ${storeKeyLength} octets.`);
}
