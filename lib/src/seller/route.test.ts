import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, dollar, read, requestOf } from '../../test/rig.ts';
import type { PaymentPayload } from '../wire/v2.ts';

const routeMistakes: readonly (readonly [string, object])[] = [
  ['an unknown option', { prize: '$1' }],
  ['a method that is never sold', { method: 'HEAD' }],
  ['a price that rounds to nothing', { price: '$0.0000001' }],
  ['a price of zero', { price: '$0' }],
  ['a price in bare digits', { price: '10000' }],
  ['a path that is none', { path: 'weather' }],
  ['a time-out below its own work', { maxTimeoutSeconds: 60 }],
  ['no attempt at all', { attempts: 0 }],
  ['a kept answer that is gone at once', { keepMs: 1_000 }],
  ['an answer bound of zero', { maxAnswerBytes: 0 }],
];
for (const [name, spoil] of routeMistakes) {
  test(`a route with ${name} does not start`, () => {
    const { seller } = createRig();
    const settings = { method: 'GET', path: '/weather', price: '$0.01', ...spoil };
    assert.throws(() => seller.route(settings as Parameters<typeof seller.route>[0]), TypeError);
  });
}

test('a route has the documented limits unless it says otherwise', () => {
  const { seller } = createRig();
  const route = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
  assert.equal(route.name, 'GET /weather');
  assert.deepEqual(
    [
      route.flow,
      route.attempts,
      route.maxAnswerBytes,
      route.maxBodyBytes,
      route.keepMs,
      route.maxTimeoutSeconds,
    ],
    ['authorization', 2, 1_048_576, 1_048_576, 600_000, 300],
  );
  assert.deepEqual(
    [route.earlierPayment, route.redeliver, route.redirects, route.inProgressStatus],
    ['serve', 'answer', 'refuse', 402],
  );
  assert.ok(Object.isFrozen(route));
});

test('S07: nothing is sold for nothing: a zero price is refused at the start, and one that turns out so sells nothing', async () => {
  const rig = createRig();
  const settings = { method: 'GET', path: '/weather' } as const;
  for (const price of ['$0', '$0.00', { asset: dollar, amount: 0n }] as const) {
    assert.throws(() => rig.seller.route({ ...settings, price }), TypeError);
  }
  let price: '$0.01' | '$0' = '$0.01';
  const route = rig.seller.route({ ...settings, price: () => price });
  let runs = 0;
  const ask = (payment?: PaymentPayload) =>
    read(
      rig.seller.charge(route, requestOf(payment === undefined ? {} : { payment }), async () => {
        runs += 1;
        return answerOf('sunny');
      }),
    );
  const { required } = await ask();
  assert.ok(required);
  price = '$0';
  for (const payment of [undefined, await rig.pay(required)]) {
    const seen = await ask(payment);
    assert.deepEqual([seen.status, seen.problem.code, seen.required], [400, 'price_unavailable', undefined]);
  }
  assert.deepEqual([runs, rig.calls.verify, rig.calls.settle], [0, 0, 0]);
});
