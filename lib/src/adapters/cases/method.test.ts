/** Methods, through every adapter: which of them ask, which of them buy, and that nobody changes one on the way. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openCounting } from '../rig/counter.ts';
import { doors } from '../rig/door.ts';
import { codeOf, paying } from '../rig/shop.ts';

const page = 'https://app.example.com';
const preflight = [
  ['Origin', page],
  ['Access-Control-Request-Method', 'GET'],
  ['Access-Control-Request-Headers', 'payment-signature, content-type'],
] as const;

for (const door of doors) {
  describe(`${door.name}:`, () => {
    test('H01: HEAD never runs the handler, unpaid or paid, and tells nothing of its answer', async (t) => {
      const shop = await openCounting(t, door, () => ({ parts: ['sunny'], headers: [['etag', '"1"']] }));
      const unpaid = await shop.ask({ method: 'HEAD' });
      assert.equal(unpaid.status, 402);
      const paid = await shop.ask(paying(await shop.payment(), { method: 'HEAD' }));
      assert.equal(paid.status, 405);
      for (const answer of [unpaid, paid]) {
        assert.equal(answer.header('etag'), undefined);
        assert.equal(answer.header('payment-response'), undefined);
      }
      assert.deepEqual([shop.runs(), shop.rig.calls.verify, shop.rig.calls.settle], [0, 0, 0]);
    });

    test('H01: no method but the route’s own runs the handler, paid or not', async (t) => {
      const shop = await openCounting(t, door);
      const payment = await shop.payment();
      for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
        assert.equal((await shop.ask(paying(payment, { method }))).status, 405, method);
      }
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [0, 0]);
      assert.equal((await shop.ask(paying(payment))).status, 200);
    });

    test('H02: OPTIONS is answered without the handler, without a price and without a payment', async (t) => {
      const shop = await openCounting(t, door);
      const payment = await shop.payment();
      for (const asked of [{}, { headers: preflight }, paying(payment)]) {
        const { status, text, header } = await shop.ask({ ...asked, method: 'OPTIONS' });
        assert.deepEqual([status, text, header('payment-required')], [204, '', undefined]);
      }
      // The whole server is asked, and not a resource (RFC 9110, section 9.3.7).
      assert.equal(
        (await shop.ask({ target: '*', method: 'OPTIONS' })).header('payment-required'),
        undefined,
      );
      assert.deepEqual([shop.runs(), shop.rig.calls.verify], [0, 0]);
      assert.equal((await shop.ask(paying(payment))).status, 200);
    });

    test('H02: a preflight is told what a page may send, and a stranger’s page may read nothing', async (t) => {
      const shop = await openCounting(t, door);
      const answer = await shop.ask({ method: 'OPTIONS', headers: preflight });
      assert.equal(answer.status, 204);
      assert.match(answer.header('access-control-allow-headers') ?? '', /PAYMENT-SIGNATURE/i);
      const unpaid = await shop.ask({ headers: [['Origin', page]] });
      assert.equal(unpaid.status, 402);
      for (const { header } of [answer, unpaid]) {
        assert.match(header('access-control-expose-headers') ?? '', /PAYMENT-REQUIRED, PAYMENT-RESPONSE/);
        assert.equal(header('access-control-allow-origin'), undefined);
      }
    });

    test('H02: a page that may buy is named on every answer', async (t) => {
      const shop = await openCounting(t, door, undefined, {}, { cors: { origins: [page] } });
      const headers = [['Origin', page]] as const;
      const answers = [
        await shop.ask({ method: 'OPTIONS', headers: preflight }),
        await shop.ask({ headers }),
        await shop.buy({ headers }),
      ];
      assert.deepEqual(
        answers.map(({ status, header }) => [status, header('access-control-allow-origin')]),
        [
          [204, page],
          [402, page],
          [200, page],
        ],
      );
    });

    test('H03: a method override that nobody has applied before the gate is not obeyed behind it', async (t) => {
      const methods: string[] = [];
      const shop = await openCounting(
        t,
        door,
        ({ context }) => {
          methods.push(context.request.method);
          return { parts: ['sunny'] };
        },
        { method: 'POST' },
      );
      for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
        const asked = { method: 'POST', body: '', headers: [[name, 'DELETE']] } as const;
        const answer = await shop.ask(paying(await shop.payment({ method: 'POST', body: '' }), asked));
        assert.deepEqual([answer.status, codeOf(answer)], [400, 'request_malformed']);
      }
      const asked = { method: 'POST', body: '_method=DELETE', target: '/weather?_method=DELETE' };
      assert.equal((await shop.buy(asked)).status, 200);
      assert.deepEqual([methods, shop.runs(), shop.rig.calls.settle], [['POST'], 1, 1]);
    });
  });
}
