/**
 * Which methods a priced route answers, and with what. HEAD asks for the terms and buys nothing (H01), OPTIONS is
 * answered without the handler (H02), and a request that names two methods is nobody's (H03).
 */
import { type Outcome, type Refusal, refuse, succeed } from '../problem.ts';
import { paymentHeaderV1 } from '../wire/v1.ts';
import { paymentSignatureHeader } from '../wire/v2.ts';
import { exposedFields, problemAnswer } from './answer.ts';
import { preflightFields } from './cors.ts';
import type { Answer, HeaderList, SellerRequest } from './message.ts';
import type { Route } from './route.ts';
import type { Shop } from './shop.ts';

/** What frameworks read another method from. One that has been applied before the gate names the request's own. */
const overrides: ReadonlySet<string> = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);
const payments: ReadonlySet<string> = new Set([paymentSignatureHeader, paymentHeaderV1]);

/** Whether a payment comes with a request, in any dialect and whatever it is worth. */
export function carriesPayment(headers: HeaderList): boolean {
  return headers.some(([name]) => payments.has(name));
}

/** Whether a route may be asked with this request's method at all. */
export function checkMethod(
  route: Pick<Route<unknown>, 'method'>,
  request: Pick<SellerRequest, 'method' | 'headers'>,
): Outcome<'asks' | 'buys'> {
  const { method, headers } = request;
  // Each of them, since which one a framework reads is its own affair.
  const override = headers.find(
    ([name, value]) => overrides.has(name) && value.trim().toUpperCase() !== method,
  );
  if (override !== undefined) {
    return refuse('request_malformed', { fields: [override[0]], detail: 'The request names two methods.' });
  }
  if (method === route.method) return succeed('buys');
  const pays = carriesPayment(headers);
  if (method === 'HEAD' && route.method === 'GET' && !pays) return succeed('asks');
  return refuse('method_not_allowed', pays ? {} : { money: 'unmoved', retry: 'never' });
}

/** A refusal that says which methods there are. */
export function refuseMethod(route: Pick<Route<unknown>, 'method'>, refusal: Refusal): Answer {
  const answer = problemAnswer(refusal);
  if (refusal.code !== 'method_not_allowed') return answer;
  return { ...answer, headers: [...answer.headers, ['allow', allowed(route)]] };
}

/** Answered without the handler; what a browser may send and read is said here. */
export function optionsAnswer(
  shop: Pick<Shop, 'cors'>,
  route: Pick<Route<unknown>, 'method'>,
  headers: HeaderList,
): Answer {
  return {
    status: 204,
    headers: [
      ['allow', allowed(route)],
      ['cache-control', 'no-store'],
      ['vary', 'PAYMENT-SIGNATURE'],
      ['access-control-expose-headers', exposedFields],
      ...preflightFields(shop.cors, route.method, headers),
    ],
    body: new Uint8Array(0),
  };
}

function allowed({ method }: Pick<Route<unknown>, 'method'>): string {
  return method === 'GET' ? 'GET, HEAD, OPTIONS' : `${method}, OPTIONS`;
}
