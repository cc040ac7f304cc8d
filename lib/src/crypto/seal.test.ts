import assert from 'node:assert/strict';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { World } from '../world.ts';
import { openRecord, openWithSignature, openWithStoreKey, sealAnswer, sealRecord } from './seal.ts';

/** The cipher of the platform, so that these tests stand on their own. */
const world: Pick<World, 'random' | 'cipher'> = {
  random: (length) => new Uint8Array(randomBytes(length)),
  cipher: {
    seal({ key, nonce, plain, bound }) {
      const machine = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound);
      return new Uint8Array(Buffer.concat([machine.update(plain), machine.final(), machine.getAuthTag()]));
    },
    open({ key, nonce, sealed, bound }) {
      const machine = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 }).setAAD(bound);
      machine.setAuthTag(sealed.subarray(-16));
      try {
        return new Uint8Array(Buffer.concat([machine.update(sealed.subarray(0, -16)), machine.final()]));
      } catch {
        return undefined;
      }
    },
  },
};
const plain = new TextEncoder().encode('HTTP answer: {"sunny":true}');
const signature = new Uint8Array(65).fill(3);
const storeKey = new Uint8Array(32).fill(5);
const bound = 'eip155:8453/eip3009/0xaa/0xbb/0xcc';
const sealed = sealAnswer({ plain, signature, storeKey, bound }, world);

test('a kept answer opens for who signed the payment, and for the seller, and is the same to the octet', () => {
  assert.deepEqual(openWithSignature({ sealed, signature, bound }, world), plain);
  assert.deepEqual(openWithStoreKey({ sealed, storeKey, bound }, world), plain);
});

test('a kept answer opens for nobody else', () => {
  const stranger = signature.with(0, 4);
  assert.equal(openWithSignature({ sealed, signature: stranger, bound }, world), undefined);
  assert.equal(openWithStoreKey({ sealed, storeKey: storeKey.with(31, 1), bound }, world), undefined);
  assert.equal(openWithSignature({ sealed, signature: storeKey, bound }, world), undefined);
  assert.equal(openWithStoreKey({ sealed, storeKey: signature.slice(0, 32), bound }, world), undefined);
});

test('a kept answer does not open under the key of another payment', () => {
  assert.equal(openWithSignature({ sealed, signature, bound: `${bound}0` }, world), undefined);
  assert.equal(openWithStoreKey({ sealed, storeKey, bound: '' }, world), undefined);
});

test('one changed, missing or added octet is noticed wherever it is', () => {
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed.with(at, (sealed[at] ?? 0) ^ 1);
    const byStore = openWithStoreKey({ sealed: changed, storeKey, bound }, world);
    const bySignature = openWithSignature({ sealed: changed, signature, bound }, world);
    // Each reader goes through its own copy of the wrapped key and does not see the other one.
    assert.ok(byStore === undefined || bySignature === undefined, `octet ${at}`);
    for (const opened of [byStore, bySignature])
      assert.ok(opened === undefined || Buffer.from(opened).equals(plain));
    assert.equal(openWithStoreKey({ sealed: sealed.subarray(0, at), storeKey, bound }, world), undefined);
  }
  assert.equal(
    openWithSignature({ sealed: Uint8Array.of(...sealed, 0), signature, bound }, world),
    undefined,
  );
});

test('the two wrapped keys cannot be exchanged', () => {
  const swapped = Uint8Array.of(
    ...sealed.subarray(0, 45),
    ...sealed.subarray(93, 141),
    ...sealed.subarray(45, 93),
    ...sealed.subarray(141),
  );
  assert.equal(openWithSignature({ sealed: swapped, signature, bound }, world), undefined);
  assert.equal(openWithStoreKey({ sealed: swapped, storeKey, bound }, world), undefined);
});

test('the layout is version 1 as documented, made with nothing but HKDF and AES-256-GCM', () => {
  assert.equal(sealed[0], 1);
  assert.equal(sealed.length, 1 + 32 + 12 + 48 + 48 + plain.length + 16);
  const salt = sealed.subarray(1, 33);
  const nonce = sealed.subarray(33, 45);
  const key = new Uint8Array(hkdfSync('sha256', signature, salt, 'counterfoil:seal:1:signature', 32));
  const octets = (place: string): Uint8Array =>
    new TextEncoder().encode(`counterfoil:seal:1:${place}\n${bound}`);
  const bodyKey = world.cipher.open({
    key,
    nonce,
    sealed: sealed.subarray(45, 93),
    bound: octets('signature'),
  });
  assert.ok(bodyKey);
  const opened = world.cipher.open({
    key: bodyKey,
    nonce,
    sealed: sealed.subarray(141),
    bound: octets('body'),
  });
  assert.deepEqual(opened, plain);
});

test('the same answer sealed twice shares no octet that an observer could compare', () => {
  const again = sealAnswer({ plain, signature, storeKey, bound }, world);
  assert.notDeepEqual(again.subarray(1, 33), sealed.subarray(1, 33));
  assert.notDeepEqual(again.subarray(141), sealed.subarray(141));
});

test('an empty answer and one of a mebibyte are kept alike', () => {
  for (const length of [0, 1_048_576]) {
    const body = new Uint8Array(length).fill(1);
    const big = sealAnswer({ plain: body, signature, storeKey, bound }, world);
    assert.deepEqual(openWithSignature({ sealed: big, signature, bound }, world), body);
  }
});

test('a record opens with the store key alone, under its own payment key, and is no answer', () => {
  const record = sealRecord({ plain, storeKey, bound }, world);
  assert.deepEqual(openRecord({ sealed: record, storeKey, bound }, world), plain);
  assert.equal(openRecord({ sealed: record, storeKey: storeKey.with(0, 6), bound }, world), undefined);
  assert.equal(openRecord({ sealed: record, storeKey, bound: 'other' }, world), undefined);
  assert.equal(openRecord({ sealed, storeKey, bound }, world), undefined);
  assert.equal(openWithStoreKey({ sealed: record, storeKey, bound }, world), undefined);
  for (let at = 0; at < record.length; at++) {
    const changed = record.with(at, (record[at] ?? 0) ^ 1);
    assert.equal(openRecord({ sealed: changed, storeKey, bound }, world), undefined);
    assert.equal(openRecord({ sealed: record.subarray(0, at), storeKey, bound }, world), undefined);
  }
});

test('a store key of another length is a programming mistake', () => {
  for (const key of [new Uint8Array(0), new Uint8Array(31), new Uint8Array(64)]) {
    assert.throws(() => sealAnswer({ plain, signature, storeKey: key, bound }, world), /32 octets/);
    assert.throws(() => openWithStoreKey({ sealed, storeKey: key, bound }, world), /32 octets/);
    assert.throws(() => sealRecord({ plain, storeKey: key, bound }, world), /32 octets/);
    assert.throws(() => openRecord({ sealed, storeKey: key, bound }, world), /32 octets/);
  }
});
