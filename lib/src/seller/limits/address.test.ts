import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { HeaderList } from '../message.ts';
import { addressReader } from './address.ts';

const said = (...values: readonly string[]): HeaderList =>
  values.map((value) => ['x-forwarded-for', value] as const);

test('C08: a peer counts by its own address, and nothing that it writes changes that', () => {
  const read = addressReader([]);
  assert.equal(read({ peer: '198.51.100.7', headers: [] }), '198.51.100.7');
  assert.equal(read({ peer: '198.51.100.7', headers: said('203.0.113.1') }), '198.51.100.7');
  assert.equal(read({ peer: '::ffff:198.51.100.7', headers: [] }), '198.51.100.7');
  assert.equal(read({ headers: said('203.0.113.1') }), undefined);
  assert.equal(read({ peer: 'nobody', headers: [] }), undefined);
  assert.equal(read({ peer: '1'.repeat(500), headers: [] }), undefined);
});

test('C08: an IPv6 customer has a whole /64 to ask from, and counts once', () => {
  const read = addressReader([]);
  const one = read({ peer: '2001:db8:1:2::1', headers: [] });
  assert.equal(one, '20010db800010002');
  assert.equal(read({ peer: '2001:db8:1:2:ffff::9', headers: [] }), one);
  assert.notEqual(read({ peer: '2001:db8:1:3::1', headers: [] }), one);
});

test('a peer of a private network stands for everybody behind it, and is not counted unless it is a declared proxy', () => {
  const read = addressReader([]);
  for (const peer of ['127.0.0.1', '10.1.2.3', '192.168.0.1', '172.16.9.9', '100.64.0.1', '::1', 'fd00::1']) {
    assert.equal(read({ peer, headers: said('198.51.100.7') }), undefined, peer);
  }
});

test('behind declared proxies the nearest hop that is none of them counts, whatever stands before it', () => {
  const read = addressReader(['127.0.0.1', '10.0.0.0/8']);
  const from = (...values: readonly string[]) => read({ peer: '127.0.0.1', headers: said(...values) });
  assert.equal(from('198.51.100.7'), '198.51.100.7');
  assert.equal(from('1.1.1.1, 198.51.100.7'), '198.51.100.7');
  assert.equal(from('1.1.1.1, 198.51.100.7, 10.0.0.9'), '198.51.100.7');
  assert.equal(from('1.1.1.1', '198.51.100.7, 10.0.0.9'), '198.51.100.7');
  assert.equal(from('198.51.100.7:4711'), '198.51.100.7');
  assert.equal(from('[2001:db8:1:2::1]:4711'), '20010db800010002');
  assert.equal(
    from('192.168.1.5'),
    '192.168.1.5',
    'a proxy says who it was, so hosts of a private network count',
  );
  assert.equal(from(), undefined);
  assert.equal(from('10.0.0.9'), undefined);
  assert.equal(from('198.51.100.7, unknown'), undefined);
});

test('where every peer is trusted only the nearest hop is believed, since all others may be the client’s own', () => {
  const read = addressReader('any');
  assert.equal(read({ peer: '10.0.0.1', headers: said('6.6.6.6, 198.51.100.7') }), '198.51.100.7');
  assert.equal(read({ headers: said('198.51.100.7') }), '198.51.100.7');
  assert.equal(read({ peer: '198.51.100.9', headers: [] }), undefined);
});

test('C08: whatever a client writes into the header, it counts for the address that the proxy saw', () => {
  const read = addressReader(['127.0.0.1']);
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 80 }), { maxLength: 30 }), (written) => {
      const headers = said(...written, `${written.join(',')}, 198.51.100.7`);
      assert.equal(read({ peer: '127.0.0.1', headers }), '198.51.100.7');
    }),
    { numRuns: 200 },
  );
});
