import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, read, requestOf, rest } from '../../test/rig.ts';

const weather = { method: 'GET', path: '/weather', price: '$0.01' } as const;

test('an unpaid request is told the terms and the work does not run', async () => {
  const rig = createRig();
  const route = rig.seller.route(weather);
  let runs = 0;
  const seen = await read(
    rig.seller.charge(route, requestOf(), async () => {
      runs += 1;
      return answerOf('sunny');
    }),
  );
  assert.equal(seen.status, 402);
  assert.equal(seen.problem.code, 'payment_required');
  assert.equal(seen.required?.accepts[0]?.amount, 10_000n);
  assert.equal(seen.required?.resource.url, 'https://api.example.com/weather');
  assert.equal(seen.header('cache-control'), 'no-store');
  assert.equal(runs, 0);
});

test('one payment buys one answer, and the same payment gets it again without a charge', async () => {
  const rig = createRig();
  const route = rig.seller.route(weather);
  let runs = 0;
  const work = async () => {
    runs += 1;
    return answerOf(`sunny ${runs}`);
  };
  const { required } = await read(rig.seller.charge(route, requestOf(), work));
  assert.ok(required);
  const payment = await rig.pay(required);
  const first = await read(rig.seller.charge(route, requestOf({ payment }), work));
  assert.equal(first.status, 200);
  assert.equal(first.text, 'sunny 1');
  assert.equal(first.response?.success, true);
  const again = await read(rig.seller.charge(route, requestOf({ payment }), work));
  assert.equal(again.status, 200);
  assert.equal(again.text, 'sunny 1');
  assert.equal(again.response?.transaction, first.response?.transaction);
  assert.deepEqual([runs, rig.calls.settle, rig.calls.verify], [1, 1, 1]);
});

test('C01: of fifty copies in flight one runs the work, and the others are answered before it ends', async () => {
  const rig = createRig();
  const route = rig.seller.route(weather);
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const work = async () => {
    runs += 1;
    await gate.promise;
    return answerOf('sunny');
  };
  const { required } = await read(rig.seller.charge(route, requestOf(), work));
  assert.ok(required);
  const payment = await rig.pay(required);
  const copies = Array.from({ length: 50 }, () =>
    read(rig.seller.charge(route, requestOf({ payment }), work)),
  );
  const losers: number[] = [];
  for (const copy of copies) void copy.then((seen) => losers.push(seen.status));
  while (losers.length < 49) await rest();
  assert.equal(losers.length, 49);
  assert.ok(losers.every((status) => status === 402));
  gate.resolve();
  const all = await Promise.all(copies);
  assert.equal(all.filter((seen) => seen.status === 200).length, 1);
  const loser = all.find((seen) => seen.status === 402);
  assert.equal(loser?.problem.code, 'payment_in_progress');
  assert.equal(loser?.required, undefined);
  assert.deepEqual([runs, rig.calls.settle], [1, 1]);
});

test('S04: a buyer who pays again after a lost settle gets the first payment’s answer and is charged once', async () => {
  const rig = createRig();
  const route = rig.seller.route(weather);
  let runs = 0;
  const work = async () => {
    runs += 1;
    return answerOf(`sunny ${runs}`);
  };
  const { required } = await read(rig.seller.charge(route, requestOf(), work));
  assert.ok(required);
  rig.settles.push({ lands: true, says: 'lost' });
  const lost = await read(rig.seller.charge(route, requestOf({ payment: await rig.pay(required) }), work));
  assert.equal(lost.status, 503);
  assert.equal(lost.problem.code, 'settlement_unknown');
  assert.equal(lost.problem.money, 'unknown');
  assert.equal(lost.required, undefined);
  const second = await rig.pay(required);
  const served = await read(rig.seller.charge(route, requestOf({ payment: second }), work));
  assert.equal(served.status, 200);
  assert.equal(served.text, 'sunny 1');
  assert.equal(rig.ledger.landed.size, 1);
  assert.deepEqual([runs, rig.calls.settle], [1, 1]);
});
