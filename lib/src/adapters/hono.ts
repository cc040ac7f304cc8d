/**
 * Sells what a Hono route answers. The rest of the route, the application's `onError` included, runs as the paid work;
 * its response is read to its end before anything of it leaves. Of Hono nothing but its types is imported.
 */
import type { Context } from 'hono';
import type { Answer, Found, Probe, Route, Seller, WorkContext } from '../seller/index.ts';
import { answerOf } from './fetch/answer.ts';
import { createProbe } from './fetch/probe.ts';
import { goneSignal, hintsOf, partsOf, sellerRequest } from './fetch/request.ts';
import { responseOf } from './fetch/respond.ts';
import { oddTarget, peerOf } from './hono/bindings.ts';
import { openStage } from './hono/stage.ts';
import { checkClosed, checkNames, type GateCatalogueOptions } from './options.ts';

type Next = () => Promise<void>;

/** What a gate may be told of its platform. */
export type GateOptions = {
  /**
   * The address that a request came from; a seller's `trustProxy` is judged by it. By default it is asked of
   * @hono/node-server, and unknown on other platforms.
   */
  readonly peer?: (c: Context) => string | undefined;
};

/** A middleware that lets a request through only as paid work. */
export type Gate<Parsed> = {
  (c: Context, next: Next): Promise<void>;
  /** What a handler behind this gate may know of the payment; TypeError for a request that did not pass it. */
  readonly context: (c: Context) => WorkContext<Parsed>;
};

/**
 * A middleware that sells `route`; mount it before whatever reads the body. Header fields set before it stay on every
 * answer. Handlers behind it find their {@link WorkContext} with `gate.context(c)`, and are given the request as it
 * was priced: our public URL, without the payment. Middlewares that rewrite answers, such as `etag`, belong behind it.
 *
 * @example
 * ```ts
 * const weather = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
 * const gate = paid(seller, weather);
 * app.get('/weather', gate, (c) => c.json({ sky: 'clear', paidBy: gate.context(c).payer }));
 * ```
 */
export function paid<Parsed>(
  seller: Pick<Seller, 'charge'>,
  route: Route<Parsed>,
  options: GateOptions = {},
): Gate<Parsed> {
  checkNames('paid', options, ['peer']);
  const found = { kind: 'route', route } as const;
  return gateOf(seller, () => found, options);
}

/**
 * A middleware for a whole application that sells many routes; `app.use` it before the handlers. A route is found by
 * the method and the target of the request itself, whatever prefix the gate is mounted under. Under the prefixes of
 * `closed` nothing passes unpaid but what stands in `free`. An application that is handed its requests by `app.mount`
 * sees another target than the client: let the gate stand before that.
 *
 * @example
 * ```ts
 * app.use(paidRoutes(seller, [weather, forecast], { closed: ['/api'], free: ['GET /api/health'] }));
 * app.get('/api/weather', (c) => c.json({ sky: 'clear' }));
 * ```
 */
export function paidRoutes<Parsed extends readonly unknown[]>(
  seller: Pick<Seller, 'charge' | 'catalogue'>,
  routes: { readonly [K in keyof Parsed]: Route<Parsed[K]> },
  options: GateCatalogueOptions & GateOptions,
): Gate<Parsed[number]> {
  checkClosed(options);
  const { peer, ...rest } = options;
  const catalogue = seller.catalogue(routes, rest);
  const find = ({ req, env }: Context): Found<Route<Parsed[number]>> => {
    const target = oddTarget(env) ?? partsOf(req.url).target;
    return catalogue.find({ method: req.method, target, ...hintsOf(req.raw) });
  };
  return gateOf(seller, find, peer === undefined ? {} : { peer });
}

function gateOf<Parsed>(
  seller: Pick<Seller, 'charge'>,
  find: (c: Context) => Found<Route<Parsed>>,
  { peer = (c) => peerOf(c.env) }: GateOptions,
): Gate<Parsed> {
  const contexts = new WeakMap<Context, WorkContext<Parsed>>();
  const admit = async (c: Context, next: Next, route: Route<Parsed>): Promise<void> => {
    const stage = openStage(c);
    const { before } = stage;
    const request = c.req.raw;
    const gone = goneSignal(request);
    const work = async (context: WorkContext<Parsed>): Promise<Answer> => {
      contexts.set(c, context);
      const response = await stage.run(context, next);
      const { signal } = context;
      return soldAnswer(await answerOf(response, { maxBytes: route.maxAnswerBytes, signal }, before));
    };
    try {
      const asked = sellerRequest(request, { peer: peer(c), target: oddTarget(c.env) });
      const delivery = await seller.charge(route, asked, work);
      stage.show(await responseOf(delivery, { method: request.method, gone, before }));
    } catch (fault) {
      // What the handlers have said was not paid for, and the application's onError would add to it.
      stage.show(new Response(null, { status: 500, headers: before.map(([name, value]) => [name, value]) }));
      throw fault;
    }
  };
  const gate = async (c: Context, next: Next): Promise<void> => {
    const found = find(c);
    switch (found.kind) {
      case 'route':
        return admit(c, next, found.route);
      case 'free':
        return next();
      case 'refused': {
        const { before, show } = openStage(c);
        return show(await responseOf(found.delivery, { method: c.req.method, gone: undefined, before }));
      }
      default:
        return found satisfies never;
    }
  };
  const context = (c: Context): WorkContext<Parsed> => {
    const known = contexts.get(c);
    if (known === undefined) throw new TypeError('This request did not pass this payment gate.');
    return known;
  };
  return Object.assign(gate, { context });
}

/** @hono/node-server takes this field for the word that somebody has answered already, and says nothing more. */
function soldAnswer(answer: Answer): Answer {
  if (answer.headers.some(([name]) => name === 'x-hono-already-sent')) {
    throw new TypeError('Behind the payment gate a handler answers with the Response that it returns.');
  }
  return answer;
}

/** A handler whose work is paid for. */
export type PaidHandler<Parsed> = (c: Context, context: WorkContext<Parsed>) => Response | Promise<Response>;

/**
 * Gate and handler in one, for a handler that wants its context as an argument. What it throws fails the work: a
 * response that the fault brings with it, as an HTTPException does, is the answer. An application's `onError` answers
 * only for handlers that stand behind a gate of their own; see {@link paid}.
 *
 * @example
 * ```ts
 * app.get('/weather', paidHandler(seller, weather, (c, { payer }) => c.json({ sky: 'clear', paidBy: payer })));
 * ```
 */
export function paidHandler<Parsed>(
  seller: Pick<Seller, 'charge'>,
  route: Route<Parsed>,
  work: PaidHandler<Parsed> | (GateOptions & { readonly handler: PaidHandler<Parsed> }),
): (c: Context) => Promise<Response> {
  const { handler, ...options } = typeof work === 'function' ? { handler: work } : work;
  const gate = paid(seller, route, options);
  return async (c) => {
    await gate(c, async () => {
      const response: unknown = await handled(c, async () => handler(c, gate.context(c)));
      if (!(response instanceof Response)) throw new TypeError('The paid handler gave no response.');
      c.res = response;
    });
    return c.res;
  };
}

async function handled(c: Context, handle: () => Promise<Response>): Promise<Response> {
  try {
    return await handle();
  } catch (fault) {
    // As Hono notes it, for loggers that stand around this handler.
    if (fault instanceof Error) c.error = fault;
    if (fault instanceof Error && 'getResponse' in fault && typeof fault.getResponse === 'function') {
      const response: unknown = fault.getResponse();
      if (response instanceof Response) return response;
    }
    throw fault;
  }
}

/**
 * The start-up self-test's way through an application, for `seller.ready({ probe: probe(app) })`. An application that
 * needs its platform's bindings before the gate is given some with `env`.
 */
export function probe(
  application: { readonly fetch: (request: Request, env?: object) => Response | Promise<Response> },
  env: object = {},
): Probe {
  return createProbe((request) => application.fetch(request, env));
}
