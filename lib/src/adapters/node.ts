/**
 * Sells what a node:http listener answers. The listener runs as usual, but on a response of its own that reaches no
 * client; what it wrote is delivered when the route's flow allows it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, Route, Seller, WorkContext } from '../seller/index.ts';
import { showHeaders } from './node/body.ts';
import { captureAnswer } from './node/capture.ts';
import { exchange } from './node/exchange.ts';

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
      showHeaders(request, context.request.headers);
      const { maxAnswerBytes: maxBytes } = route;
      const capture = captureAnswer(request, { maxBytes, signal: context.signal, real: response });
      const run = async (): Promise<unknown> => listener(request, capture.response, context);
      run().catch(capture.fail);
      return capture.answer;
    };
    return exchange(seller, route, { request, response, work }).catch(() => {
      // Fail closed: whatever broke, this buyer gets nothing, and the process goes on serving the others.
      response.destroy();
    });
  };
}
