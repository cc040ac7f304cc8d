import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, network, read, requestOf, type Seen } from '../../test/rig.ts';
import { deriveMacKey } from '../crypto/mac.ts';
import type { PaymentPayload, PaymentRequirements } from '../wire/v2.ts';
import { openQuote, sealQuote } from './quoted.ts';

const key = deriveMacKey(new Uint8Array(32).fill(1), 'quote');
const scope = { key, route: 'GET /chat', terms: '[]', request: 'ab'.repeat(32) };
const asked: PaymentRequirements = {
  scheme: 'exact',
  network: 'eip155:1',
  amount: 10_000n,
  asset: '0xa',
  payTo: '0xb',
  maxTimeoutSeconds: 300,
  extra: { name: 'Dollar', version: '2' },
};
const untilMs = 1_790_000_000_500;

function sealed(): PaymentRequirements {
  const [requirement] = sealQuote([asked], scope, untilMs);
  assert.ok(requirement);
  return requirement;
}

test('B10: a quote holds until its second is over and not a millisecond longer', () => {
  const at = (nowMs: number): string => {
    const opened = openQuote(sealed(), scope, nowMs);
    return opened.ok ? String(opened.value.amount) : opened.refusal.code;
  };
  assert.equal(at(untilMs), '10000');
  assert.equal(at(1_790_000_000_999), '10000');
  assert.equal(at(1_790_000_001_000), 'quote_expired');
});

test('B08, B10: a quote for another amount, address, route or request is none', () => {
  const good = sealed();
  const quote = String(good.extra.quote);
  const forged: readonly PaymentRequirements[] = [
    { ...good, amount: 1n },
    { ...good, payTo: '0xc' },
    { ...good, asset: '0xc' },
    { ...good, network: 'eip155:2' },
    { ...good, maxTimeoutSeconds: 301 },
    { ...good, extra: { ...good.extra, name: 'Euro' } },
    { ...good, extra: { ...good.extra, facilitator: 'https://evil.example' } },
    { ...good, extra: asked.extra },
    { ...good, extra: { ...good.extra, quote: '' } },
    { ...good, extra: { ...good.extra, quote: quote.replace(/^1/, '2') } },
    { ...good, extra: { ...good.extra, quote: `${quote.slice(0, -1)}${quote.endsWith('0') ? '1' : '0'}` } },
    { ...good, extra: { ...good.extra, quote: quote.toUpperCase() } },
    { ...good, extra: { ...good.extra, quote: 7 } },
  ];
  for (const entry of forged) {
    const opened = openQuote(entry, scope, untilMs);
    const same = JSON.stringify(entry.extra) === JSON.stringify(good.extra) && entry.amount === good.amount;
    if (!opened.ok) assert.deepEqual(opened.refusal.fields, ['extra.quote']);
    else assert.ok(same && quote.toUpperCase() === quote, JSON.stringify(entry.extra));
  }
  for (const other of [
    { ...scope, route: 'GET /other' },
    { ...scope, terms: '[[]]' },
    { ...scope, request: 'cd'.repeat(32) },
    { ...scope, key: deriveMacKey(new Uint8Array(32).fill(2), 'quote') },
  ]) {
    assert.ok(!openQuote(good, other, untilMs).ok);
  }
});

/** A shop whose price climbs with every question. */
function climbing(quoteMs: number | undefined) {
  const rig = createRig();
  let asks = 0;
  const route = rig.seller.route({
    method: 'GET',
    path: '/weather',
    price: () => {
      asks += 1;
      return `$0.0${asks}`;
    },
    ...(quoteMs === undefined ? {} : { quoteMs }),
  });
  const ask = (target: string, payment?: PaymentPayload): Promise<Seen> =>
    read(
      rig.seller.charge(
        route,
        requestOf({ target, ...(payment === undefined ? {} : { payment }) }),
        async () => answerOf('sunny'),
      ),
    );
  return { rig, ask };
}

test('B10: the price settled is the price signed, though the price has climbed since', async () => {
  const { rig, ask } = climbing(60_000);
  const { required } = await ask('/weather?city=bern');
  assert.ok(required);
  const quoted = required.accepts[0]?.amount;
  await ask('/weather?city=bern');
  const payment = await rig.pay(required);
  const elsewhere = await ask('/weather?city=rome', payment);
  assert.equal(elsewhere.problem.code, 'requirement_mismatch');
  const paid = await ask('/weather?city=bern', payment);
  assert.equal(paid.status, 200);
  assert.equal(paid.response?.amount, quoted);
  assert.deepEqual(
    [...rig.ledger.landed.values()].map(({ amount }) => amount),
    [String(quoted)],
  );
});

test('B10: after its time a quote is refused by name, and nothing was settled', async () => {
  const { rig, ask } = climbing(60_000);
  const { required } = await ask('/weather');
  assert.ok(required);
  const payment = await rig.pay(required);
  await rig.clock.advance(61_000);
  const late = await ask('/weather', payment);
  assert.deepEqual([late.status, late.problem.code, late.problem.money], [402, 'quote_expired', 'unmoved']);
  assert.notEqual(late.required?.accepts[0]?.amount, required.accepts[0]?.amount);
  assert.equal(rig.ledger.landed.size, 0);
});

test('B10: a quote ends with the address that it was made for', async () => {
  const { rig, ask } = climbing(60_000);
  const { required } = await ask('/weather');
  assert.ok(required);
  const payment = await rig.pay(required);
  const seller = rig.another({ accepts: [{ network, payTo: `0x${'ab'.repeat(20)}` }] });
  const route = seller.route({ method: 'GET', path: '/weather', price: () => '$0.01', quoteMs: 60_000 });
  const seen = await read(seller.charge(route, requestOf({ payment }), async () => assert.fail('it ran')));
  assert.deepEqual([seen.problem.code, seen.problem.fields], ['requirement_mismatch', ['extra.quote']]);
  assert.equal(rig.calls.settle, 0);
});

test('B10: without a quote a price that has changed is refused, and never settled at another amount', async () => {
  const { rig, ask } = climbing(undefined);
  const { required } = await ask('/weather');
  assert.ok(required);
  const drifted = await ask('/weather', await rig.pay(required));
  assert.deepEqual([drifted.status, drifted.problem.code], [402, 'requirement_mismatch']);
  assert.deepEqual(drifted.problem.fields, ['amount']);
  assert.equal(rig.calls.settle, 0);
});

test('S12, P05: a price function that gives no exact price refuses its request and settles nothing', async () => {
  const prices = [
    '150%',
    '-$1',
    '$-1',
    '1e3',
    '$1e3',
    'NaN',
    '',
    '$',
    '$0',
    '$0.0000001',
    ' $1',
    '$1 ',
    '0x10',
    '$1,5',
    '$1.5.0',
    'Infinity',
    '$9'.padEnd(90, '9'),
  ];
  for (const price of [...prices, undefined, null, 7, Number.NaN, 10n, {}, [], [['$1']], { amount: 5n }]) {
    const rig = createRig();
    const route = rig.seller.route({ method: 'GET', path: '/weather', price: () => price as string });
    const seen = await read(rig.seller.charge(route, requestOf(), async () => answerOf('free')));
    assert.deepEqual([seen.status, seen.problem.code], [400, 'price_unavailable'], String(price));
    assert.equal(rig.calls.settle, 0);
  }
});
