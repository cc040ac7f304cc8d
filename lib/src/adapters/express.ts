/**
 * Sells what an Express route answers, with Express 5 or 4 and whatever else calls `(request, response, next)`. The
 * rest of the route, the application's error handlers included, runs as the paid work.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, Found, Probe, Route, Seller, WorkContext } from '../seller/index.ts';
import { createDiversion } from './express/divert.ts';
import { bodyTaken, takenMessage } from './node/body.ts';
import { captureAnswer } from './node/capture.ts';
import { exchange, hintsOf, type Incoming, soughtOf, turnAway } from './node/exchange.ts';
import { createProbe, type Listener } from './node/probe.ts';
import { pinFree, showPriced } from './node/show.ts';
import { checkClosed, type GateCatalogueOptions } from './options.ts';

type Next = (fault?: unknown) => void;

/** A middleware that lets a request through only as paid work. */
export type Gate<Parsed> = {
  (request: IncomingMessage, response: ServerResponse, next: Next): void;
  /** What a handler behind this gate may know of the payment; TypeError for a request that did not pass it. */
  readonly context: (request: IncomingMessage) => WorkContext<Parsed>;
};

/**
 * A middleware that sells `route`; mount it before body parsers. Header fields set before it stay on every answer.
 * Handlers behind it find their {@link WorkContext} with `gate.context(request)`.
 *
 * @example
 * ```ts
 * const weather = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
 * const gate = paid(seller, weather);
 * app.get('/weather', gate, (request, response) => {
 *   response.json({ sky: 'clear', paidBy: gate.context(request).payer });
 * });
 * ```
 */
export function paid<Parsed>(seller: Pick<Seller, 'charge'>, route: Route<Parsed>): Gate<Parsed> {
  const found = { kind: 'route', route } as const;
  return gateOf(seller, () => found);
}

/**
 * A middleware for a whole application that sells many routes; `app.use` it before the handlers. A route is found by
 * the method and the target that were received, whatever prefix the gate is mounted under, and by what the target was
 * rewritten to before the gate. Under the prefixes of `closed` nothing passes unpaid but what stands in `free`; with
 * `closed: []` whatever is not listed is free.
 *
 * @example
 * ```ts
 * app.use(paidRoutes(seller, [weather, forecast], { closed: ['/api'], free: ['GET /api/health'] }));
 * app.get('/api/weather', (_request, response) => response.json({ sky: 'clear' }));
 * ```
 */
export function paidRoutes<Parsed extends readonly unknown[]>(
  seller: Pick<Seller, 'charge' | 'catalogue'>,
  routes: { readonly [K in keyof Parsed]: Route<Parsed[K]> },
  options: GateCatalogueOptions,
): Gate<Parsed[number]> {
  checkClosed(options);
  const catalogue = seller.catalogue(routes, options);
  return gateOf(seller, (request) => {
    const sought = { ...soughtOf(request), ...hintsOf(request) };
    const found = catalogue.find(sought);
    const target = targetNow(request);
    return target === sought.target ? found : stricter(found, catalogue.find({ ...sought, target }));
  });
}

/** What Express routes by, with the prefix that it has stripped. */
function targetNow({ baseUrl = '', url = '' }: Incoming): string {
  return `${baseUrl}${url}`;
}

/** Of what was received and what that was rewritten to, whatever asks for more. */
function stricter<R>(received: Found<R>, rewritten: Found<R>): Found<R> {
  if (received.kind === 'free' || rewritten.kind === 'refused') return rewritten;
  if (rewritten.kind === 'free' || received.kind === 'refused') return received;
  if (received.route === rewritten.route) return received;
  throw new TypeError('This request was rewritten from one priced route to another before the payment gate.');
}

function gateOf<Parsed>(
  seller: Pick<Seller, 'charge'>,
  find: (request: Incoming) => Found<Route<Parsed>>,
): Gate<Parsed> {
  const contexts = new WeakMap<IncomingMessage, WorkContext<Parsed>>();
  const gate = (request: IncomingMessage, response: ServerResponse, next: Next): void => {
    const found = find(request);
    switch (found.kind) {
      case 'route':
        admit(seller, found.route, { request, response, next, contexts });
        break;
      case 'free':
        pinFree(request, () => find(request).kind === 'free');
        next();
        break;
      case 'refused':
        turnAway(request, response, found.delivery).catch(next);
        break;
      default:
        found satisfies never;
    }
  };
  const context = (request: IncomingMessage): WorkContext<Parsed> => {
    const known = contexts.get(request);
    if (known === undefined) throw new TypeError('This request did not pass this payment gate.');
    return known;
  };
  return Object.assign(gate, { context });
}

type Visitor<Parsed> = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly next: Next;
  readonly contexts: WeakMap<IncomingMessage, WorkContext<Parsed>>;
};

function admit<Parsed>(
  seller: Pick<Seller, 'charge'>,
  route: Route<Parsed>,
  { request, response, next, contexts }: Visitor<Parsed>,
): void {
  if (bodyTaken(request)) {
    next(new TypeError(takenMessage));
    return;
  }
  const diversion = createDiversion(response);
  const work = (context: WorkContext<Parsed>): Promise<Answer> => {
    contexts.set(request, context);
    showPriced(request, context.request);
    const { maxAnswerBytes: maxBytes } = route;
    const capture = captureAnswer(request, {
      maxBytes,
      signal: context.signal,
      real: response,
      front: response,
    });
    diversion.to(capture.response);
    next();
    return capture.answer;
  };
  exchange(seller, route, { request, response, work, handover: diversion }).catch((fault: unknown) => {
    diversion.take();
    next(fault);
  });
}

/**
 * Gate and handler in one, for a handler that wants its context as an argument. What it throws goes to the
 * application's error handlers, whose answer counts as the work's.
 *
 * @example
 * ```ts
 * app.get('/weather', paidHandler(seller, weather, (_request: Request, response: Response, context) => {
 *   response.json({ sky: 'clear', paidBy: context.payer });
 * }));
 * ```
 */
export function paidHandler<Parsed, Request extends IncomingMessage, Response extends ServerResponse>(
  seller: Pick<Seller, 'charge'>,
  route: Route<Parsed>,
  handler: (request: Request, response: Response, context: WorkContext<Parsed>) => unknown,
): (request: Request, response: Response, next: Next) => void {
  const gate = paid(seller, route);
  return (request, response, next) => {
    const run = async (): Promise<unknown> => handler(request, response, gate.context(request));
    gate(request, response, (fault) => {
      if (fault === undefined) run().catch(next);
      else next(fault);
    });
  };
}

/** The start-up self-test's way through an application, for `seller.ready({ probe: probe(app) })`. */
export function probe(application: Listener): Probe {
  return createProbe(application);
}
