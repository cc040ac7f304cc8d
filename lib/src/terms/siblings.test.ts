import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PaymentRequirements } from '../wire/v2.ts';
import { ditherOffsets, findSiblings, type Priced, withOffset } from './siblings.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());
const none: ReadonlyMap<string, bigint> = new Map();

function entry(amount: bigint, asset: string = 'a'): PaymentRequirements {
  return {
    scheme: 'exact',
    network: 'eip155:1',
    amount,
    asset,
    payTo: 'p',
    maxTimeoutSeconds: 60,
    extra: {},
  };
}

function route(name: string, amount: bigint, signed: boolean = false): Priced {
  return { name, requirements: [entry(amount)], signed };
}

test('B01: routes that ask for the same terms are found and named', () => {
  const routes = [route('GET /a', 1n), route('GET /b', 2n), route('GET /c', 1n), route('GET /d', 2n)];
  assert.deepEqual(findSiblings(routes), [
    ['GET /a', 'GET /c'],
    ['GET /b', 'GET /d'],
  ]);
  assert.deepEqual(findSiblings([route('GET /a', 1n), route('GET /b', 2n)]), []);
});

test('terms that differ in network, asset, payee or amount alone are no siblings', () => {
  const whole = entry(1n);
  for (const change of [{ network: 'eip155:2' }, { asset: 'b' }, { payTo: 'q' }, { amount: 2n }]) {
    const other = { name: 'GET /b', requirements: [{ ...whole, ...change }], signed: false };
    assert.deepEqual(findSiblings([route('GET /a', 1n), other]), []);
  }
});

test('one shared entry of several is enough, and a group is named once', () => {
  const both: Priced = { name: 'GET /both', requirements: [entry(1n), entry(5n, 'b')], signed: false };
  const twice: Priced = { name: 'GET /twice', requirements: [entry(1n), entry(5n, 'b')], signed: false };
  assert.deepEqual(findSiblings([both, twice]), [['GET /both', 'GET /twice']]);
  assert.deepEqual(findSiblings([both, both]), []);
});

test('routes whose payments all commit to their request are told apart by that; one that does not is a way in', () => {
  assert.deepEqual(findSiblings([route('GET /a', 1n, true), route('GET /b', 1n, true)]), []);
  assert.deepEqual(findSiblings([route('GET /a', 1n, true), route('GET /b', 1n)]), [['GET /a', 'GET /b']]);
});

test('B01: after the offsets no two siblings ask for the same terms, and who has none keeps its price', () => {
  const name = fc.stringMatching(/^[a-z]{1,6}$/);
  const priced = fc.record({
    name,
    amounts: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 2 }),
    signed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.uniqueArray(priced, { selector: (one) => one.name, maxLength: 30 }), (drawn) => {
      const routes = drawn.map(({ name, amounts, signed }) => ({
        name,
        requirements: amounts.map((amount, at) => entry(BigInt(amount), String(at))),
        signed,
      }));
      const offsets = ditherOffsets(routes, none, sha256);
      const moved = routes.map((one) => ({
        ...one,
        requirements: withOffset(one.requirements, offsets.get(one.name) ?? 0n),
      }));
      assert.deepEqual(findSiblings(moved), []);
      const crowded = new Set(findSiblings(routes).flat());
      for (const { name } of routes) {
        if (!crowded.has(name)) assert.equal(offsets.get(name) ?? 0n, 0n);
        // A few units: never more than all routes together and the spread of first places.
        assert.ok((offsets.get(name) ?? 0n) < BigInt(routes.length * 2 + 8 + 6));
      }
    }),
  );
});

test('the offset of a route does not depend on the order of declaration, and one that is placed stays', () => {
  const routes = ['GET /weather', 'GET /premium', 'GET /history'].map((name) => route(name, 10_000n));
  const offsets = ditherOffsets(routes, none, sha256);
  assert.deepEqual(ditherOffsets([...routes].reverse(), none, sha256), offsets);
  const later = ditherOffsets([...routes, route('GET /added', 10_000n)], offsets, sha256);
  for (const { name } of routes) assert.equal(later.get(name), offsets.get(name));
  assert.equal(new Set(later.values()).size, 4);
});

test('whoever was asked before others came keeps its place, siblings or not', () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(names, fc.nat(12), (drawn, early) => {
      const routes = drawn.map((name) => route(name, 10n));
      const first = ditherOffsets(routes.slice(0, early), none, sha256);
      const all = ditherOffsets(routes, first, sha256);
      for (const [name, offset] of first) assert.equal(all.get(name), offset, name);
      assert.equal(new Set(all.values()).size, drawn.length);
    }),
  );
});

test('a route that comes late, at the price that another was moved to, is moved itself', () => {
  const routes = ['GET /weather', 'GET /premium'].map((name) => route(name, 10_000n));
  const offsets = ditherOffsets(routes, none, sha256);
  const highest = [...offsets.values()].sort((a, b) => (a < b ? -1 : 1)).at(-1) ?? 0n;
  assert.ok(highest > 0n);
  const late = route('GET /late', 10_000n + highest);
  const later = ditherOffsets([...routes, late], offsets, sha256);
  assert.ok((later.get('GET /late') ?? 0n) > 0n);
});

test('an offset changes the amounts of a copy', () => {
  const requirements = [entry(10n), entry(20n, 'b')];
  assert.deepEqual(
    withOffset(requirements, 3n).map(({ amount }) => amount),
    [13n, 23n],
  );
  assert.equal(withOffset(requirements, 0n), requirements);
});
