import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { trustPeers } from './peer.ts';

test('H10: a proxy is known by its address or by the range that it is in, IPv4 and IPv6', () => {
  const trusts = trustPeers([
    '127.0.0.1',
    '10.0.0.0/8',
    '::1',
    '2001:db8::/32',
    '192.168.7.128/25',
    'fe80::/10',
  ]);
  for (const peer of [
    '127.0.0.1',
    '::ffff:127.0.0.1',
    '::FFFF:7f00:1',
    '10.0.0.0',
    '10.255.255.255',
    '::ffff:10.1.2.3',
    '::1',
    '0:0:0:0:0:0:0:1',
    '2001:DB8:ffff::1',
    '192.168.7.128',
    'fe80::1%eth0',
  ]) {
    assert.ok(trusts(peer), peer);
    assert.ok(trusts(peer), `${peer}, once more`);
  }
  for (const peer of [
    undefined,
    '',
    'unknown',
    '127.0.0.2',
    '127.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '127.0.0.1:4021',
    '127.0.0.1/32',
    ' 127.0.0.1',
    '[::1]',
    '::127.0.0.1',
    '::2',
    '9.255.255.255',
    '11.0.0.0',
    '2001:db9::1',
    '64:ff9b::7f00:1',
    '192.168.7.127',
    `::1%${'e'.repeat(100)}`,
  ]) {
    assert.equal(trusts(peer), false, String(peer));
    assert.equal(trusts(peer), false, `${peer}, once more`);
  }
});

test('H10: a range written inside IPv6 is the range that it means', () => {
  assert.ok(trustPeers(['::ffff:10.0.0.0/104'])('10.9.9.9'));
  assert.equal(trustPeers(['::ffff:10.0.0.0/104'])('11.0.0.1'), false);
  assert.ok(trustPeers(['::ffff:10.0.0.1'])('10.0.0.1'));
  assert.equal(trustPeers(['::/0'])('10.0.0.1'), false);
  assert.ok(trustPeers(['::/0', '0.0.0.0/0'])('10.0.0.1'));
});

test('H10: nobody is trusted by default, and under "any" everybody is, known or not', () => {
  assert.equal(trustPeers([])('127.0.0.1'), false);
  assert.equal(trustPeers([])(undefined), false);
  assert.ok(trustPeers('any')('203.0.113.9'));
  assert.ok(trustPeers('any')(undefined));
});

test('an entry that is no address and no range stops the seller at its start, by name', () => {
  for (const bad of [
    '',
    'localhost',
    'proxy.internal',
    'any',
    '*',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0',
    '10/8',
    '010.0.0.1',
    '256.0.0.1',
    '::1/129',
    '::ffff:10.0.0.0/8',
    'fe80::1%eth0',
    '127.0.0.1:80',
    '[::1]',
    ' 127.0.0.1',
  ]) {
    assert.throws(
      () => trustPeers(['127.0.0.1', bad]),
      (fault) => fault instanceof TypeError && fault.message.endsWith(`"${bad}".`),
      bad,
    );
  }
  assert.throws(() => trustPeers([7] as unknown as string[]), TypeError);
  assert.throws(() => trustPeers('127.0.0.1' as 'any'), { name: 'TypeError', message: /list/ });
});

test('H10: however many strangers come, each is judged by its own address', () => {
  const trusts = trustPeers(['10.1.0.0/16']);
  const octet = fc.integer({ min: 0, max: 255 });
  const property = fc.property(
    fc.constantFrom(9, 10),
    fc.constantFrom(0, 1),
    octet,
    octet,
    fc.boolean(),
    (...drawn) => {
      const [a, b, c, d, mapped] = drawn;
      const address = `${a}.${b}.${c}.${d}`;
      assert.equal(trusts(mapped ? `::ffff:${address}` : address), a === 10 && b === 1);
    },
  );
  // More than are remembered.
  fc.assert(property, { numRuns: 1000 });
});

test('H10: a peer that is no text of an address at all is a stranger', () => {
  const trusts = trustPeers(['0.0.0.0/1', '::/1']);
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), (peer) => {
      assert.equal(typeof trusts(peer), 'boolean');
      if (!/^[0-9a-f.:]+(?:%[0-9a-z]+)?$/i.test(peer)) assert.equal(trusts(peer), false);
    }),
  );
});
