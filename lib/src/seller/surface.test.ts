/** C11, C12: one payment on several routes, flows and sellers, and work that is made to fail again and again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, read, requestOf, type Seen } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import type { PaymentPayload } from '../wire/v2.ts';
import type { Route, RouteRequest } from './route.ts';
import type { Seller } from './seller.ts';

/** The same payment with another copy of what it accepted. */
function under(payment: PaymentPayload, accepted: object): PaymentPayload {
  return { ...payment, accepted: { ...payment.accepted, ...accepted } };
}

test('C12: an authorization for exact is taken by no other scheme, whatever its copy of the terms says', async () => {
  for (const flow of ['authorization', 'upfront'] as const) {
    const shop = openTestShop({ route: { flow } });
    const payment = await shop.payment();
    for (const scheme of ['upto', 'escrow', 'deferred', 'EXACT', 'batch-settlement']) {
      const seen = await shop.ask({ payment: under(payment, { scheme }) });
      assert.equal(seen.problem.code, 'scheme_unsupported', scheme);
    }
    const { extra } = payment.accepted;
    const permit2 = under(payment, { extra: { ...extra, assetTransferMethod: 'permit2' } });
    assert.ok(
      ['scheme_unsupported', 'requirement_mismatch'].includes(
        (await shop.ask({ payment: permit2 })).problem.code,
      ),
    );
    assert.deepEqual([shop.runs(), shop.rig.calls.settle], [0, 0]);
    assert.equal((await shop.ask({ payment })).status, 200, 'and it was not spent on any of them');
  }
});

test('C12: one authorization at an authorization route and at an upfront one, in two processes at once, buys one of them', async () => {
  for (const order of [0, 1]) {
    const rig = createRig({ binding: 'off' });
    const other = rig.another();
    const late = rig.seller.route({ method: 'GET', path: '/late', price: '$0.01' });
    const early = other.route({ method: 'GET', path: '/early', price: '$0.01', flow: 'upfront' });
    let runs = 0;
    const at = (seller: Seller, route: Route<RouteRequest>, payment?: PaymentPayload): Promise<Seen> => {
      const request = requestOf({ target: route.path, ...(payment === undefined ? {} : { payment }) });
      return read(
        seller.charge(route, request, async () => {
          runs += 1;
          return answerOf(route.path);
        }),
      );
    };
    const { required } = await at(rig.seller, late);
    const terms = await at(other, early);
    assert.ok(required && terms.required?.accepts[0]);
    const payment = await rig.pay(required);
    const forEarly = { ...payment, accepted: terms.required.accepts[0] };
    const asked = [() => at(rig.seller, late, payment), () => at(other, early, forEarly)];
    const seen = await Promise.all((order === 0 ? asked : asked.toReversed()).map((ask) => ask()));
    assert.equal(seen.filter(({ status }) => status === 200).length, 1);
    assert.deepEqual([runs, rig.ledger.landed.size, rig.calls.settle], [1, 1, 1]);
    const again = [await at(rig.seller, late, payment), await at(other, early, forEarly)];
    assert.deepEqual(again.map(({ status, problem }) => [status, problem.code]).sort(), [
      [200, ''],
      [409, 'payment_already_used'],
    ]);
    assert.deepEqual([runs, rig.ledger.landed.size], [1, 1]);
  }
});

test('C11: one authorization drives failing work as often as it may, over whatever requests, and is then dead everywhere', async () => {
  const rig = createRig({ binding: 'off' });
  const paths = ['/a', '/b', '/c'];
  let runs = 0;
  const routes = paths.map((path) => rig.seller.route({ method: 'GET', path, price: '$0.01' }));
  const ask = (route: Route<RouteRequest>, payment?: PaymentPayload): Promise<Seen> =>
    read(
      rig.seller.charge(
        route,
        requestOf({ target: route.path, ...(payment === undefined ? {} : { payment }) }),
        async () => {
          runs += 1;
          return answerOf('bad parameter', 400);
        },
      ),
    );
  const [first] = routes;
  assert.ok(first);
  const { required } = await ask(first);
  assert.ok(required);
  const payment = await rig.pay(required);
  const codes: string[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    for (const route of routes) codes.push((await ask(route, payment)).problem.code);
  }
  assert.equal(runs, 2);
  assert.deepEqual([...new Set(codes.slice(2))], ['attempts_exhausted']);
  assert.equal(rig.calls.settle, 0);
  const failures = rig.events.filter((event) => event.event === 'work_failed' && !event.paid);
  assert.equal(failures.length, 2, 'each is told to the observer as failed and unpaid');
});

test('C11: upfront, failing work costs its buyer one charge, and its seller the attempts that were agreed', async () => {
  const shop = openTestShop({ route: { flow: 'upfront', attempts: 3 } });
  const payment = await shop.payment();
  shop.works(async () => answerOf('bad parameter', 400));
  for (let turn = 0; turn < 8; turn += 1) await shop.ask({ payment });
  assert.deepEqual([shop.runs(), shop.rig.ledger.landed.size, shop.rig.calls.settle], [3, 1, 1]);
});
