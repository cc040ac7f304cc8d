/**
 * Sells what an Express route answers, with Express 5 or 4 and whatever else calls `(request, response, next)`. The
 * rest of the route, the application's error handlers included, runs as the paid work.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, Route, Seller, WorkContext } from '../seller/index.ts';
import { createDiversion } from './express/divert.ts';
import { bodyTaken, showHeaders, takenMessage } from './node/body.ts';
import { captureAnswer } from './node/capture.ts';
import { exchange } from './node/exchange.ts';

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
  const contexts = new WeakMap<IncomingMessage, WorkContext<Parsed>>();
  const gate = (request: IncomingMessage, response: ServerResponse, next: Next): void => {
    if (bodyTaken(request)) {
      next(new TypeError(takenMessage));
      return;
    }
    const diversion = createDiversion(response);
    const work = (context: WorkContext<Parsed>): Promise<Answer> => {
      contexts.set(request, context);
      showHeaders(request, context.request.headers);
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
  };
  const context = (request: IncomingMessage): WorkContext<Parsed> => {
    const found = contexts.get(request);
    if (found === undefined) throw new TypeError(`This request did not pass the gate of ${route.name}.`);
    return found;
  };
  return Object.assign(gate, { context });
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
