import assert from 'node:assert/strict';
import { createHmac, hkdfSync } from 'node:crypto';
import { test } from 'node:test';
import { deriveMacKey, macOf, sameMac } from './mac.ts';

const storeKey = new Uint8Array(32).fill(3);

test('the key and the authenticator are those that node:crypto makes', () => {
  const key = deriveMacKey(storeKey, 'quote');
  const expected = hkdfSync('sha256', storeKey, new Uint8Array(), 'counterfoil:mac:1:quote', 32);
  assert.deepEqual(key, new Uint8Array(expected));
  const full = createHmac('sha256', key).update('a text').digest();
  assert.deepEqual(macOf(key, 'a text'), new Uint8Array(full.subarray(0, 16)));
});

test('two purposes have two keys, and any flipped bit or other length is another authenticator', () => {
  const [quote, other] = [deriveMacKey(storeKey, 'quote'), deriveMacKey(storeKey, 'other')];
  const mac = macOf(quote, 'a text');
  assert.ok(sameMac(mac, macOf(quote, 'a text')));
  assert.ok(!sameMac(mac, macOf(other, 'a text')));
  for (let bit = 0; bit < 128; bit += 1) {
    const flipped = Uint8Array.from(mac, (octet, at) => (at === bit >> 3 ? octet ^ (1 << (bit & 7)) : octet));
    assert.ok(!sameMac(mac, flipped));
  }
  assert.ok(!sameMac(mac, mac.subarray(1)));
  assert.ok(!sameMac(new Uint8Array(), mac));
});
