/** What must not get out, through every adapter: the words of a fault, and any octet that is not paid for yet. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRig } from '../../../test/rig.ts';
import { openCounting } from '../rig/counter.ts';
import { doors, type Handler } from '../rig/door.ts';
import { buyHeld, codeOf, paying } from '../rig/shop.ts';
import { until } from '../rig/wire.ts';

const internals = /swordfish|\.ts:|node:internal|at async|\[object|stack/i;

const secret = new Error('the password is swordfish', { cause: new TypeError('swordfish again') });
/** Faults as handlers have them. */
const faults: { readonly [how: string]: Handler } = {
  'throws an error': () => {
    throw secret;
  },
  'throws a text': () => {
    throw 'swordfish';
  },
  'rejects in the middle': async () => {
    await null;
    throw Object.assign(new Error('swordfish'), { status: 200, statusCode: 200, expose: true });
  },
};

for (const door of doors) {
  describe(`${door.name}:`, () => {
    for (const [how, handler] of Object.entries(faults)) {
      test(`H14: a handler that ${how} is not charged for and shows nothing of its fault`, async (t) => {
        const shop = await openCounting(t, door, handler);
        const answer = await shop.buy();
        assert.equal(answer.status, 500);
        assert.doesNotMatch(answer.text, internals);
        for (const [, value] of answer.headers) assert.doesNotMatch(value, internals);
        assert.deepEqual([shop.runs(), shop.rig.calls.settle], [1, 0]);
      });
    }

    test('H14: a price that cannot be made shows nothing of its fault, and the handler does not run', async (t) => {
      const price = (): never => {
        throw secret;
      };
      const shop = await openCounting(t, door, undefined, { price });
      const answer = await shop.ask();
      assert.equal(codeOf(answer), 'price_unavailable');
      assert.doesNotMatch(answer.text, internals);
      assert.equal(shop.runs(), 0);
    });

    test('H14: a store that is down shows nothing of its fault, and the handler does not run', async (t) => {
      const { store } = createRig().options;
      const down = { ...store, find: () => Promise.reject(secret) };
      const shop = await openCounting(t, door, undefined, {}, { store: down });
      const payment = await shop.payment();
      const answer = await shop.ask(paying(payment));
      assert.deepEqual([answer.status, codeOf(answer)], [503, 'store_unavailable']);
      assert.doesNotMatch(answer.text, internals);
      assert.equal(shop.runs(), 0);
    });

    test('H15: an answer in pieces leaves in one, when the money has moved', async (t) => {
      const shop = await openCounting(t, door, () => ({
        parts: ['sun', 'n', 'y'],
        headers: [['x-sky', '1']],
      }));
      const answer = await buyHeld(shop);
      assert.deepEqual([answer.status, answer.text, answer.header('x-sky')], [200, 'sunny', '1']);
      assert.equal(answer.header('content-length'), '5');
    });

    test('H15: a handler that never ends is aborted at the route’s workMs, and is not charged for', async (t) => {
      let aborted = 0;
      const endless: Handler = ({ context }) => {
        context.signal.addEventListener('abort', () => {
          aborted += 1;
        });
        return new Promise(() => {});
      };
      const shop = await openCounting(t, door, endless, { workMs: 1000 });
      const buying = shop.buy();
      await until(() => shop.runs() === 1);
      await shop.rig.clock.advance(1000);
      const answer = await buying;
      assert.deepEqual([answer.status, codeOf(answer)], [500, 'work_failed']);
      assert.deepEqual([aborted, shop.rig.calls.settle], [1, 0]);
    });

    test('H15: what a handler has said before it failed is not passed on', async (t) => {
      let said = false;
      const shop = await openCounting(t, door, () => {
        said = true;
        return { status: 500, parts: ['out of ', 'clouds'], headers: [['x-why', 'clouds']] };
      });
      const answer = await shop.buy();
      assert.deepEqual([said, answer.status, answer.text], [true, 500, 'out of clouds']);
      assert.equal(answer.header('payment-response'), undefined);
      assert.match(answer.header('counterfoil-payment') ?? '', /money=unmoved/);
    });
  });
}
