/**
 * Sells what a fetch-style handler answers: Request in, Response out, as Deno, Bun, Workers and most routers have it.
 * The body is read once, before anything is claimed, and the handler gets the octets that were fingerprinted.
 */
import type { Answer, CatalogueOptions, Probe, Route, Seller, WorkContext } from '../seller/index.ts';
import { answerOf } from './fetch/answer.ts';
import { createProbe } from './fetch/probe.ts';
import { goneSignal, hintsOf, partsOf, pricedRequest, sellerRequest } from './fetch/request.ts';
import { responseOf } from './fetch/respond.ts';
import { checkNames } from './options.ts';

/** A handler whose work is paid for; its request has our public URL, the priced headers and body, and the signal. */
export type PaidHandler<Parsed> = (
  request: Request,
  context: WorkContext<Parsed>,
) => Response | Promise<Response>;

/** A paid handler and what else there is to say of its requests. */
export type PaidOptions<Parsed> = {
  readonly handler: PaidHandler<Parsed>;
  /** The address that a request came from, which a Request does not tell; a seller's `trustProxy` is judged by it. */
  readonly peer?: PeerOf;
};

/** The address that a request came from, where that is known. */
export type PeerOf = (request: Request) => string | undefined;

/**
 * A fetch handler that sells `route`. Every method may be passed on to it: the seller answers HEAD and OPTIONS itself.
 *
 * @example
 * ```ts
 * const weather = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
 * export const fetch = paid(seller, weather, (_request, context) =>
 *   Response.json({ sky: 'clear', paidBy: context.payer }),
 * );
 * ```
 */
export function paid<Parsed>(
  seller: Pick<Seller, 'charge'>,
  route: Route<Parsed>,
  work: PaidHandler<Parsed> | PaidOptions<Parsed>,
): (request: Request) => Promise<Response> {
  const options = typeof work === 'function' ? { handler: work } : work;
  checkNames('paid', options, ['handler', 'peer']);
  const { handler, peer } = options;
  return async (request) => {
    const run = async (context: WorkContext<Parsed>): Promise<Answer> =>
      answerOf(await handler(pricedRequest(context), context), {
        maxBytes: route.maxAnswerBytes,
        signal: context.signal,
      });
    const gone = goneSignal(request);
    const delivery = await seller.charge(route, sellerRequest(request, { peer: peer?.(request) }), run);
    return responseOf(delivery, { method: request.method, gone });
  };
}

/** What is closed and what is free, and what else a fetch handler before many routes may be told. */
export type PaidRoutesOptions = CatalogueOptions & {
  readonly peer?: PeerOf;
  /** What is not sold and not closed; by default 404 without a word. */
  readonly otherwise?: (request: Request) => Response | Promise<Response>;
};

/**
 * A fetch handler that sells many routes, each with its own handler, found by the method and the target of a request.
 * Under the prefixes of `closed` nothing is answered unpaid but what stands in `free`.
 *
 * @example
 * ```ts
 * export const fetch = paidRoutes(seller, [
 *   [weather, () => new Response('clear')],
 *   [forecast, async (request) => Response.json(await forecastFor(request))],
 * ], { closed: ['/'], free: ['GET /health'], otherwise: site });
 * ```
 */
export function paidRoutes<Parsed extends readonly unknown[]>(
  seller: Pick<Seller, 'charge' | 'catalogue'>,
  pairs: { readonly [K in keyof Parsed]: readonly [Route<Parsed[K]>, PaidHandler<Parsed[K]>] },
  options: PaidRoutesOptions = {},
): (request: Request) => Promise<Response> {
  const { otherwise = notFound, peer, ...rest } = options;
  const sold = pairs.map(([route, handler]): Sold => {
    const { name, method, path } = route;
    const sell = paid(seller, route, { handler, ...(peer === undefined ? {} : { peer }) });
    return { name, method, path, sell };
  });
  const catalogue = seller.catalogue(sold, rest);
  return async (request) => {
    const { method } = request;
    const found = catalogue.find({ method, target: partsOf(request.url).target, ...hintsOf(request) });
    switch (found.kind) {
      case 'route':
        return found.route.sell(request);
      case 'free':
        return otherwise(request);
      case 'refused':
        return responseOf(found.delivery, { method, gone: undefined });
      default:
        return found satisfies never;
    }
  };
}

type Sold = Pick<Route<unknown>, 'name' | 'method' | 'path'> & {
  readonly sell: (request: Request) => Promise<Response>;
};

function notFound(): Response {
  return new Response(null, { status: 404 });
}

/** The start-up self-test's way through a fetch handler, for `seller.ready({ probe: probe(fetch) })`. */
export function probe(handler: (request: Request) => Response | Promise<Response>): Probe {
  return createProbe(handler);
}
