/** What a buyer sees is the same through every adapter: one file of cases, run against all of them on real sockets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CountingShop, openCounting } from './rig/counter.ts';
import { doors } from './rig/door.ts';
import { codeOf, paying } from './rig/shop.ts';
import { type Asked, octets, open, until } from './rig/wire.ts';

for (const door of doors) {
  describe(`${door.name}:`, () => {
    test('an unpaid request gets 402 with the terms and does not reach the handler', async (t) => {
      const shop = await openCounting(t, door);
      const answer = await shop.ask();
      assert.equal(answer.status, 402);
      assert.equal(codeOf(answer), 'payment_required');
      assert.ok(answer.header('payment-required'));
      assert.equal(answer.header('cache-control'), 'no-store');
      assert.equal(shop.runs(), 0);
    });

    test('H15: not one octet leaves before the money has moved', async (t) => {
      const shop = await openCounting(t, door, () => ({
        parts: ['sun', 'ny'],
        headers: [['x-made-of', 'clouds']],
      }));
      const settle = Promise.withResolvers<void>();
      shop.rig.settles.push({ says: 'success', before: settle.promise });
      const wire = open(shop.port);
      wire.send(octets(paying(await shop.payment())));
      await until(() => shop.rig.calls.settle === 1);
      assert.equal(shop.runs(), 1);
      assert.equal(wire.soFar(), '');
      settle.resolve();
      const [answer] = await wire.answers();
      assert.equal(answer?.status, 200);
      assert.equal(answer?.text, 'sunny');
      assert.equal(answer?.header('x-made-of'), 'clouds');
      assert.ok(answer?.header('payment-response'));
    });

    test('nothing of an answer leaves when its settlement is refused or in doubt', async (t) => {
      const shop = await openCounting(t, door, () => ({
        parts: ['secret'],
        headers: [
          ['x-secret', 'yes'],
          ['set-cookie', 'a=1'],
        ],
      }));
      const refused = {
        success: false,
        errorReason: 'insufficient_funds',
        transaction: '',
        network: 'eip155:31337',
      };
      shop.rig.settles.push({ lands: false, says: { kind: 'answer', status: 200, body: refused } });
      const first = await shop.buy();
      assert.equal(first.status, 402);
      shop.rig.settles.push({ lands: true, says: 'lost' });
      const second = await shop.buy();
      assert.equal(second.status, 503);
      for (const answer of [first, second]) {
        assert.equal(answer.header('x-secret'), undefined);
        assert.equal(answer.header('set-cookie'), undefined);
        assert.doesNotMatch(answer.text, /secret/);
      }
    });

    test('the handler reads the octets that were priced, and not the payment', async (t) => {
      let seen: Readonly<Record<string, string | undefined>> = {};
      const shop = await openCounting(
        t,
        door,
        ({ body, headers, context }) => {
          seen = headers;
          return { parts: [body, ` by ${context.payer} for ${context.amount}`] };
        },
        { method: 'POST' },
      );
      const asked: Asked = { method: 'POST', body: '{"where":"Łódź"}', headers: [['x-tag', 'one']] };
      const answer = await shop.buy(asked);
      assert.equal(answer.status, 200);
      const text = Buffer.from(answer.text, 'latin1').toString();
      assert.equal(text, `{"where":"Łódź"} by ${shop.rig.buyer.address.toLowerCase()} for 10000`);
      assert.equal(seen['x-tag'], 'one');
      assert.equal(seen['payment-signature'], undefined);
    });

    test('a handler that answers 500 is not charged for, and its answer is passed on', async (t) => {
      const shop = await openCounting(t, door, () => ({ status: 500, parts: ['out of clouds'] }));
      const answer = await shop.buy();
      assert.deepEqual([answer.status, answer.text], [500, 'out of clouds']);
      assert.equal(answer.header('cache-control'), 'no-store');
      assert.equal(shop.rig.calls.settle, 0);
    });

    test('a redirect is neither sold nor charged for', async (t) => {
      const shop = await openCounting(t, door, () => ({
        status: 302,
        headers: [['location', '/signed?token=secret']],
      }));
      const answer = await shop.buy();
      assert.equal(codeOf(answer), 'redirect_not_sold');
      assert.equal(answer.header('location'), undefined);
      assert.equal(shop.rig.calls.settle, 0);
    });

    test('an answer larger than the route may keep is refused before any charge', async (t) => {
      const shop = await openCounting(t, door, () => ({ parts: Array(64).fill('x'.repeat(1024)) }), {
        maxAnswerBytes: 4096,
      });
      const answer = await shop.buy();
      assert.equal(answer.status, 500);
      assert.equal(codeOf(answer), 'answer_too_large');
      assert.equal(shop.rig.calls.settle, 0);
    });

    test('the same payment gets the kept answer again, without its cookies and without a second run', async (t) => {
      const shop = await openCounting(t, door, () => ({
        parts: ['sunny'],
        headers: [
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
          ['x-kind', 'weather'],
        ],
      }));
      const payment = await shop.payment();
      const first = await shop.ask(paying(payment));
      assert.deepEqual(
        first.headers.filter(([name]) => name === 'set-cookie').map(([, value]) => value),
        ['a=1', 'b=2'],
      );
      await until(() => shop.rig.events.some((event) => event.event === 'delivered'));
      const again = await shop.ask(paying(payment));
      assert.deepEqual([again.status, again.text, again.header('x-kind')], [200, 'sunny', 'weather']);
      assert.equal(again.header('set-cookie'), undefined);
      assert.equal(again.header('payment-response'), first.header('payment-response'));
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
    });

    test('S10: a buyer who leaves in the middle of the work finds its answer with the same payment', async (t) => {
      const work = Promise.withResolvers<void>();
      const shop = await openCounting(t, door, async () => {
        await work.promise;
        return { parts: ['sunny'] };
      });
      const payment = await shop.payment();
      const wire = open(shop.port);
      wire.send(octets(paying(payment)));
      await until(() => shop.runs() === 1);
      await wire.leave();
      work.resolve();
      await until(() => shop.rig.events.some((event) => event.event === 'delivered'));
      assert.deepEqual(
        shop.rig.events.flatMap((event) => (event.event === 'delivered' ? [event.how] : [])),
        ['cut'],
      );
      const answer = await shop.ask(paying(payment));
      assert.deepEqual([answer.status, answer.text], [200, 'sunny']);
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
    });

    test('H12: a body that trickles is refused before anything is claimed', async (t) => {
      const shop = await openCounting(t, door, undefined, { method: 'POST', bodyTimeoutMs: 30 });
      const payment = await shop.payment({ method: 'POST', body: 'hello' });
      const wire = open(shop.port);
      wire.send(octets(paying(payment, { method: 'POST', headers: [['Content-Length', '5']] })));
      wire.send('he');
      const [answer] = await wire.answers();
      assert.equal(answer?.status, 408);
      assert.deepEqual([shop.runs(), shop.rig.calls.verify], [0, 0]);
      assert.ok(!shop.rig.events.some((event) => event.event === 'taken'));
      wire.socket.destroy();
    });

    test('a body over the limit gets 413 and claims nothing', async (t) => {
      const shop = await openCounting(t, door, undefined, { method: 'POST', maxBodyBytes: 1000 });
      const payment = await shop.payment({ method: 'POST', body: 'x' });
      const answer = await shop.ask(paying(payment, { method: 'POST', body: 'x'.repeat(1001) }));
      assert.equal(answer.status, 413);
      const whole = await shop.ask(paying(payment, { method: 'POST', body: 'x'.repeat(1000) }));
      assert.equal(whole.status, 200);
      assert.equal(shop.runs(), 1);
    });

    test('a buyer who leaves in the middle of its body starts nothing', async (t) => {
      const shop = await openCounting(t, door, undefined, { method: 'POST' });
      const payment = await shop.payment({ method: 'POST', body: 'hello' });
      const wire = open(shop.port);
      wire.send(octets(paying(payment, { method: 'POST', headers: [['Content-Length', '5']] })));
      wire.send('he');
      wire.socket.end();
      await until(() => shop.rig.events.filter((event) => event.event === 'refused').length >= 1);
      wire.socket.destroy();
      assert.deepEqual([shop.runs(), shop.rig.calls.verify], [0, 0]);
    });

    test('C01: twenty copies of one payment run the handler once, and the others hear so before it ends', async (t) => {
      const work = Promise.withResolvers<void>();
      const shop = await openCounting(t, door, async () => {
        await work.promise;
        return { parts: ['sunny'] };
      });
      const payment = await shop.payment();
      const statuses: number[] = [];
      const copies = Array.from({ length: 20 }, async () => {
        statuses.push((await shop.ask(paying(payment))).status);
      });
      await until(() => statuses.length === 19);
      work.resolve();
      await Promise.all(copies);
      assert.deepEqual(statuses, [...Array(19).fill(402), 200]);
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 1]);
    });

    test('upfront: the money moves before the handler runs, and its failure is owed', async (t) => {
      let settles = 0;
      let fail = true;
      const shop: CountingShop = await openCounting(
        t,
        door,
        () => {
          settles = shop.rig.calls.settle;
          return fail ? { status: 503, parts: ['later'] } : { parts: ['sunny'] };
        },
        { flow: 'upfront' },
      );
      const payment = await shop.payment();
      const failed = await shop.ask(paying(payment));
      assert.deepEqual([failed.status, settles], [503, 1]);
      assert.ok(failed.header('payment-response'));
      fail = false;
      const answer = await shop.ask(paying(payment));
      assert.deepEqual([answer.status, answer.text], [200, 'sunny']);
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [2, 1]);
    });
  });
}
