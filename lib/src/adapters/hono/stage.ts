/**
 * The context of a request while a gate holds it. Hono hands every handler the same object, so the gate changes what
 * that says: the handlers behind it find the request that was priced, and what they answer is taken from it before
 * anything leaves. What the seller answers is put in its place.
 */
import type { Context } from 'hono';
import type { HeaderList, WorkContext } from '../../seller/index.ts';
import { takenMessage } from '../fetch/body.ts';
import { pricedRequest } from '../fetch/request.ts';
import { methodMessage } from '../node/show.ts';
import { guardBindings } from './bindings.ts';

/** What a gate does with the context of one request. */
export type Stage = {
  /** Fields that were set before the gate. */
  readonly before: HeaderList;
  /** Runs the handlers behind the gate; rejects when there is no response, or when a handler wrote past it. */
  readonly run: <Parsed>(context: WorkContext<Parsed>, next: () => Promise<void>) => Promise<Response>;
  /** Puts the answer in place; of whatever the handlers have set, or are yet to set, nothing is left. */
  readonly show: (answer: Response) => void;
};

/** Contexts whose work has begun. */
const atWork = new WeakSet<Context>();

/** Checks that a gate may stand here, and notes what was set before it; every TypeError is a programmer's mistake. */
export function openStage(c: Context): Stage {
  if (c.finalized) throw new TypeError('This response was begun before the payment gate.');
  // The payment was for the first gate and is hidden from whatever stands behind it, so the second would refuse it.
  if (atWork.has(c)) throw new TypeError('This request has passed a payment gate before; one is enough.');
  if (c.req.raw.bodyUsed) throw new TypeError(takenMessage);
  // A response without anything of its own: reading `c.res` would begin one.
  const before = [...c.body(null, 200).headers];
  let running = false;
  return {
    before,
    run: async (context, next) => {
      atWork.add(c);
      const gaveUp = Promise.withResolvers<never>();
      showPriced(c, context, gaveUp.reject);
      running = true;
      const done = next().finally(() => {
        running = false;
      });
      await Promise.race([done, gaveUp.promise]);
      if (!c.finalized) throw new TypeError('The handlers behind the payment gate gave no response.');
      return c.res;
    },
    show: (answer) => {
      // Assigned over another response, it would take on that one's fields.
      c.res = undefined;
      c.res = answer;
      if (running) pin(c, answer);
    },
  };
}

/** The handlers read the octets and the fields that were priced, whichever way they read. */
function showPriced<Parsed>(
  c: Context,
  context: WorkContext<Parsed>,
  giveUp: (fault: unknown) => void,
): void {
  let raw = pricedRequest(context);
  const { method } = raw;
  Object.defineProperty(c.req, 'raw', {
    get: () => raw,
    set: (next: Request) => {
      if (next.method !== method) throw new TypeError(methodMessage);
      raw = next;
    },
    enumerable: true,
    configurable: true,
  });
  c.req.bodyCache = {};
  c.env = guardBindings(c.env, context.request.headers, giveUp);
}

/** Handlers that were cut off are still running, and have this context: nothing that they do changes the answer. */
function pin(c: Context, answer: Response): void {
  Object.defineProperty(c, 'res', { get: () => answer, set: () => {}, enumerable: true, configurable: true });
}
