/** Header fields, through every adapter: those that a request brings, and those that an answer may leave with. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodePaymentRequired } from '../../wire/index.ts';
import { openCounting } from '../rig/counter.ts';
import { doors } from '../rig/door.ts';
import { codeOf, paying } from '../rig/shop.ts';

type Fields = readonly (readonly [string, string])[];

const past = 'Thu, 01 Jan 2015 00:00:00 GMT';
const future = 'Thu, 01 Jan 2099 00:00:00 GMT';
/** Questions whose honest answer is not the thing that is sold, but that one has it, or a part of it. */
const conditions: Fields = [
  ['If-None-Match', '"1"'],
  ['If-Modified-Since', future],
  ['If-Match', '"2"'],
  ['If-Unmodified-Since', past],
  ['If-Range', '"1"'],
  ['Range', 'bytes=0-1'],
];

/** What no field may carry: the end of its line, a control character, and what is not one octet. */
const unsendable = ['a\r\nx-evil: 1', 'a\nb', 'a\rb', 'a\0b', 'a\x01b', 'a \u2014 b', '\u0141\u00f3d\u017a'];

for (const door of doors) {
  describe(`${door.name}:`, () => {
    test('H06: no cache may keep what was paid for, whatever the handler says', async (t) => {
      const shop = await openCounting(t, door, () => ({
        parts: ['sunny'],
        headers: [
          ['cache-control', 'public, s-maxage=600'],
          ['expires', future],
          ['x-accel-expires', '600'],
          ['vary', 'accept'],
        ],
      }));
      const payment = await shop.payment();
      for (const answer of [await shop.ask(paying(payment)), await shop.ask(paying(payment))]) {
        assert.equal(answer.status, 200);
        assert.equal(answer.header('cache-control'), 'private, no-store, no-transform');
        assert.match(answer.header('vary') ?? '', /PAYMENT-SIGNATURE/);
        assert.equal(answer.header('expires'), undefined);
        assert.equal(answer.header('x-accel-expires'), '0');
      }
    });

    test('H07: the work sees no condition and no range, and so what is sold is always the whole', async (t) => {
      let seen: Readonly<Record<string, string | undefined>> = {};
      const shop = await openCounting(t, door, ({ headers }) => {
        seen = headers;
        return {
          parts: ['sunny'],
          headers: [
            ['etag', '"1"'],
            ['last-modified', past],
          ],
        };
      });
      const answer = await shop.buy({ headers: [...conditions, ['X-Tag', 'one']] });
      assert.deepEqual([answer.status, answer.text], [200, 'sunny']);
      for (const [name] of conditions) assert.equal(seen[name.toLowerCase()], undefined, name);
      assert.equal(seen['x-tag'], 'one');
    });

    test('H07: an unpaid request is told no condition either', async (t) => {
      const shop = await openCounting(t, door);
      for (const field of conditions) {
        const answer = await shop.ask({ headers: [field] });
        assert.deepEqual([answer.status, answer.header('etag')], [402, undefined], field[0]);
      }
      assert.equal(shop.runs(), 0);
    });

    test('H07: a 304 of the handler’s own is not sold', async (t) => {
      const shop = await openCounting(t, door, () => ({ status: 304, headers: [['etag', '"1"']] }));
      const answer = await shop.buy();
      assert.deepEqual([codeOf(answer), answer.header('etag')], ['redirect_not_sold', undefined]);
      assert.equal(shop.rig.calls.settle, 0);
    });

    test('H07: a route that sells parts is asked for them, and its 206 is what was paid for', async (t) => {
      const part = ({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }) => ({
        status: 206,
        parts: [headers.range === 'bytes=0-1' ? 'su' : '?'],
        headers: [['content-range', 'bytes 0-1/5']] as const,
      });
      const shop = await openCounting(t, door, part, { ranges: 'sell' });
      const answer = await shop.buy({ headers: [['Range', 'bytes=0-1']] });
      assert.deepEqual(
        [answer.status, answer.text, answer.header('content-range')],
        [206, 'su', 'bytes 0-1/5'],
      );
    });

    test('H08: two payment headers are refused, in both orders, in both dialects and in one line', async (t) => {
      const shop = await openCounting(t, door);
      const [one, two] = [await shop.payment(), await shop.payment()];
      const v2 = 'PAYMENT-SIGNATURE';
      const pairs: readonly Fields[] = [
        [
          [v2, one],
          ['payment-signature', two],
        ],
        [
          ['Payment-Signature', two],
          [v2, one],
        ],
        [
          [v2, one],
          [v2, one],
        ],
        [
          ['X-PAYMENT', one],
          [v2, two],
        ],
        [
          [v2, two],
          ['X-PAYMENT', one],
        ],
        [
          ['X-PAYMENT', one],
          ['x-payment', two],
        ],
        [[v2, `${one}, ${two}`]],
        [[v2, `${one},${two}`]],
        [[v2, `${one},`]],
        [['X-PAYMENT', `${one}, ${two}`]],
      ];
      for (const headers of pairs) {
        const answer = await shop.ask({ headers });
        assert.equal(answer.status, 400);
        assert.equal(codeOf(answer), 'duplicate_payment_header');
      }
      assert.deepEqual([shop.runs(), shop.rig.calls.verify], [0, 0]);
    });

    test('H11: a handler’s field that cannot be sent fails the work before anything is charged', async (t) => {
      let value = '';
      const shop = await openCounting(t, door, () => ({ parts: ['sunny'], headers: [['x-sky', value]] }));
      for (value of unsendable) {
        const answer = await shop.buy();
        assert.equal(answer.status, 500, JSON.stringify(value));
        assert.deepEqual([answer.header('x-sky'), answer.header('x-evil')], [undefined, undefined]);
        assert.doesNotMatch(answer.text, /sunny|ERR_|\.ts:/);
      }
      assert.deepEqual([shop.rig.calls.settle, shop.rig.ledger.landed.size], [0, 0]);
    });

    test('H11: a dash and an umlaut in a description cost neither terms nor sale', async (t) => {
      const description = 'Weather \u2014 today, in M\u00fcnchen and \u0141\u00f3d\u017a';
      const shop = await openCounting(t, door, undefined, { description });
      const required = decodePaymentRequired((await shop.ask()).header('payment-required') ?? '');
      assert.ok(required.ok);
      assert.equal(required.value.resource.description, description);
      assert.equal((await shop.buy()).status, 200);
    });
  });
}
