/**
 * Sells what a node:http listener answers. The listener runs as usual, but on a response of its own that reaches no
 * client; what it wrote is delivered when the route's flow allows it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, CatalogueOptions, Probe, Route, Seller, WorkContext } from '../seller/index.ts';
import { captureAnswer } from './node/capture.ts';
import { exchange, hintsOf, soughtOf, turnAway } from './node/exchange.ts';
import { createProbe, type Listener } from './node/probe.ts';
import { showPriced } from './node/show.ts';

/**
 * A listener whose work is paid for. Its request carries the body that was priced; its response stays open until
 * `context.signal` fires, whether or not the client is still there.
 */
export type PaidListener<Parsed> = (
  request: IncomingMessage,
  response: ServerResponse,
  context: WorkContext<Parsed>,
) => unknown;

/**
 * A listener for `http.createServer` that sells `route`. Every method may be passed on to it: the seller answers HEAD
 * and OPTIONS itself. The promise resolves when the answer is out; it may be ignored.
 *
 * @example
 * ```ts
 * const weather = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
 * const sell = paid(seller, weather, (_request, response, context) => {
 *   response.setHeader('content-type', 'application/json');
 *   response.end(JSON.stringify({ sky: 'clear', paidBy: context.payer }));
 * });
 * createServer((request, response) => {
 *   if (request.url === '/weather') void sell(request, response);
 *   else response.writeHead(404).end();
 * });
 * ```
 */
export function paid<Parsed>(
  seller: Pick<Seller, 'charge'>,
  route: Route<Parsed>,
  listener: PaidListener<Parsed>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return (request, response) => {
    const work = (context: WorkContext<Parsed>): Promise<Answer> => {
      showPriced(request, context.request);
      const { maxAnswerBytes: maxBytes } = route;
      const capture = captureAnswer(request, { maxBytes, signal: context.signal, real: response });
      const run = async (): Promise<unknown> => listener(request, capture.response, context);
      run().catch(capture.fail);
      return capture.answer;
    };
    return failClosed(response, exchange(seller, route, { request, response, work }));
  };
}

/** What is closed and what is free, and what becomes of the rest. */
export type PaidRoutesOptions = CatalogueOptions & {
  /** What is not sold and not closed; by default 404 without a word. */
  readonly otherwise?: Listener;
};

/**
 * A listener that sells many routes, each with its own listener, found by the method and the target of a request.
 * Under the prefixes of `closed` nothing is answered unpaid but what stands in `free`.
 *
 * @example
 * ```ts
 * createServer(paidRoutes(seller, [
 *   [weather, (_request, response) => response.end('clear')],
 *   [forecast, (request, response, { parsed }) => forecastInto(response, parsed)],
 * ], { closed: ['/'], free: ['GET /health'], otherwise: site }));
 * ```
 */
export function paidRoutes<Parsed extends readonly unknown[]>(
  seller: Pick<Seller, 'charge' | 'catalogue'>,
  pairs: { readonly [K in keyof Parsed]: readonly [Route<Parsed[K]>, PaidListener<Parsed[K]>] },
  options: PaidRoutesOptions = {},
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { otherwise = notFound, ...rest } = options;
  const sold = pairs.map(([route, listener]): Sold => {
    const { name, method, path } = route;
    return { name, method, path, sell: paid(seller, route, listener) };
  });
  const catalogue = seller.catalogue(sold, rest);
  const choose = async (request: IncomingMessage): Promise<Listener> => {
    const found = catalogue.find({ ...soughtOf(request), ...hintsOf(request) });
    switch (found.kind) {
      case 'route':
        return found.route.sell;
      case 'free':
        return otherwise;
      case 'refused': {
        const { delivery } = found;
        return (_same, response) => failClosed(response, turnAway(request, response, delivery));
      }
      default:
        return found satisfies never;
    }
  };
  return async (request, response) => {
    const listener = await failClosed(response, choose(request));
    await listener?.(request, response);
  };
}

type Sold = Pick<Route<unknown>, 'name' | 'method' | 'path'> & { readonly sell: ReturnType<typeof paid> };

function notFound(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(404, { 'content-length': '0' }).end();
}

/** Whatever broke, this buyer gets nothing, and the process goes on serving the others. */
function failClosed<Result>(response: ServerResponse, result: Promise<Result>): Promise<Result | undefined> {
  return result.catch(() => {
    response.destroy();
    return undefined;
  });
}

/** The start-up self-test's way through a listener, for `seller.ready({ probe: probe(listener) })`. */
export function probe(listener: Listener): Probe {
  return createProbe(listener);
}
