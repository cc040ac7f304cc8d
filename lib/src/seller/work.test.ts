import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';

test('the work is told what was paid, and has a name for this attempt that it can hand on', async () => {
  const shop = openTestShop({ route: { method: 'POST' } });
  const payment = await shop.payment();
  const seen: unknown[] = [];
  shop.works(async ({ idempotencyKey, attempt, payer, amount, request, parsed, signal }) => {
    seen.push([
      idempotencyKey,
      attempt,
      payer,
      amount,
      new TextDecoder().decode(request.body),
      parsed === request,
      signal.aborted,
    ]);
    if (attempt === 1) throw new Error('first');
    return answerOf('done');
  });
  await shop.ask({ payment, body: 'hello' });
  await shop.ask({ payment, body: 'hello' });
  const key = (await shop.rig.options.store.list({ limit: 1 }))[0]?.key;
  const payer = shop.rig.buyer.address.toLowerCase();
  assert.deepEqual(seen, [
    [`${key}#1`, 1, payer, 10_000n, 'hello', true, false],
    [`${key}#2`, 2, payer, 10_000n, 'hello', true, false],
  ]);
});

test('the work never sees the payment header', async () => {
  const shop = openTestShop();
  let names: readonly string[] = [];
  shop.works(async ({ request }) => {
    names = request.headers.map(([name]) => name);
    return answerOf('done');
  });
  await shop.ask({ payment: await shop.payment(), headers: [['accept', 'text/plain']] });
  assert.deepEqual(names, ['host', 'accept']);
});

test('work that has answered is told by its signal that nothing more is wanted', async () => {
  const shop = openTestShop();
  let signal: AbortSignal | undefined;
  shop.works(async (context) => {
    signal = context.signal;
    return answerOf('done');
  });
  await shop.ask({ payment: await shop.payment() });
  assert.equal(signal?.aborted, true);
});
