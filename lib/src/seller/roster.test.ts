import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, read, requestOf, type Seen } from '../../test/rig.ts';
import type { PaymentPayload } from '../wire/v2.ts';
import type { SellerOptions } from './seller.ts';

function open(siblings: NonNullable<SellerOptions['siblings']>, more: Partial<SellerOptions> = {}) {
  const rig = createRig({ siblings, ...more });
  const runs = new Map<string, number>();
  const define = (path: string, price: string | (() => string) = '$0.01') => {
    const route = rig.seller.route({ method: 'GET', path, price });
    return (payment?: PaymentPayload): Promise<Seen> =>
      read(
        rig.seller.charge(
          route,
          requestOf({ target: path, ...(payment === undefined ? {} : { payment }) }),
          async () => {
            runs.set(path, (runs.get(path) ?? 0) + 1);
            return answerOf(path);
          },
        ),
      );
  };
  return { rig, runs, define };
}

test('B01: siblings are named at the start, once', async () => {
  const { rig, define } = open('warn');
  define('/weather');
  define('/premium');
  define('/dearer', '$0.02');
  define('/dynamic', () => '$0.01');
  await rig.seller.ready();
  await rig.seller.ready();
  assert.deepEqual(
    rig.events.filter(({ event }) => event === 'siblings'),
    [{ event: 'siblings', routes: ['GET /weather', 'GET /premium'] }],
  );
});

test('B01: where siblings are refused, the second is a TypeError that names both', () => {
  const { define } = open('refuse');
  define('/weather');
  define('/dearer', '$0.02');
  assert.throws(() => define('/premium'), /GET \/weather and GET \/premium/);
});

test('B01: routes whose payments must commit to their request are no siblings', async () => {
  const { rig, define } = open('refuse', { binding: 'required' });
  define('/weather');
  define('/premium');
  await rig.seller.ready();
});

test('B01: dithered siblings ask for a few units apart, and a payment for one buys no other, whatever it echoes', async () => {
  const { rig, runs, define } = open('dither');
  const asks = ['/weather', '/premium', '/history'].map((path) => ({ path, ask: define(path) }));
  const amounts = new Set<bigint>();
  for (const { path, ask } of asks) {
    const { required } = await ask();
    const amount = required?.accepts[0]?.amount ?? 0n;
    assert.ok(amount >= 10_000n && amount < 10_020n, String(amount));
    amounts.add(amount);
    assert.ok(required);
    const payment = await rig.pay(required);
    for (const other of asks) {
      if (other.path === path) continue;
      const lie = { ...payment, resource: { url: `https://api.example.com${other.path}` } };
      const seen = await other.ask(lie);
      assert.deepEqual(
        [seen.status, seen.problem.code, seen.problem.fields],
        [402, 'requirement_mismatch', ['amount']],
      );
    }
    assert.equal(runs.get(path), undefined);
    const own = await ask(payment);
    assert.deepEqual([own.status, own.response?.amount, runs.get(path)], [200, amount, 1]);
    runs.delete(path);
  }
  assert.equal(amounts.size, 3);
});

test('a route without siblings keeps its price, and one that is declared late moves nobody', async () => {
  const { define } = open('dither');
  const [weather, premium, dearer] = [define('/weather'), define('/premium'), define('/dearer', '$0.02')];
  const amountOf = async (ask: typeof weather): Promise<bigint | undefined> =>
    (await ask()).required?.accepts[0]?.amount;
  const before = [await amountOf(weather), await amountOf(premium)];
  assert.equal(await amountOf(dearer), 20_000n);
  const late = define('/late');
  const amounts = [await amountOf(weather), await amountOf(premium), await amountOf(late)];
  assert.deepEqual(amounts.slice(0, 2), before);
  assert.equal(new Set(amounts).size, 3);
});

test('an unknown policy is a TypeError', () => {
  assert.throws(() => createRig({ siblings: 'split' as 'warn' }), TypeError);
});

test('H09: what was left out of a 402 is said once a route, however often it is asked', async () => {
  const rig = createRig();
  const description = 'long '.repeat(100);
  const output = { example: { text: 'x'.repeat(2_000) } };
  const route = rig.seller.route({
    method: 'GET',
    path: '/weather',
    price: '$0.01',
    description,
    discovery: { output: { type: 'json', ...output } },
  });
  for (let n = 0; n < 3; n += 1) {
    const seen = await read(rig.seller.charge(route, requestOf(), async () => answerOf('')));
    assert.equal(seen.status, 402);
    assert.ok((seen.header('payment-required') ?? '').length <= 3 * 1024);
  }
  assert.equal(rig.events.filter(({ event }) => event === 'shortened').length, 1);
});
