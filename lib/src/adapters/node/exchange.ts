/** One request to a priced route, as node:http shows it, taken through the seller to a written answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Delivery, HeaderList, Route, Seller, SellerRequest, Sought, Work } from '../../seller/index.ts';
import { readBody } from './body.ts';
import { deliver, type Handover } from './deliver.ts';
import { clientOf } from './gone.ts';

/** What frameworks that strip a mount prefix keep: the target as it was received, and what they have stripped (H05). */
export type Incoming = IncomingMessage & { readonly originalUrl?: string; readonly baseUrl?: string };

export type Exchange<Parsed> = {
  readonly request: Incoming;
  readonly response: ServerResponse;
  readonly work: Work<Parsed>;
  readonly handover?: Handover;
};

/** Requests whose work has begun. */
const atWork = new WeakSet<IncomingMessage>();

/** Asks the seller and writes what it answers; rejects only for a mistake of the programmer's. */
export async function exchange<Parsed>(
  seller: Pick<Seller, 'charge'>,
  route: Route<Parsed>,
  parts: Exchange<Parsed>,
): Promise<void> {
  const { request, response, work, handover } = parts;
  checkUnbegun(response);
  checkVersion(request);
  // The payment was for the first gate and is hidden from whatever stands behind it, so the second would refuse it.
  if (atWork.has(request))
    throw new TypeError(
      `This request has passed a payment gate before that of ${route.name}; one is enough.`,
    );
  const client = clientOf(request);
  const delivery = await seller.charge(route, sellerRequest(request), (context) => {
    atWork.add(request);
    return work(context);
  });
  await deliver({ request, response, client, ...(handover === undefined ? {} : { handover }) }, delivery);
}

/** Writes an answer that is there without any work, such as that of a path that nothing is sold at. */
export async function turnAway(
  request: IncomingMessage,
  response: ServerResponse,
  delivery: Delivery,
): Promise<void> {
  checkUnbegun(response);
  await deliver({ request, response, client: clientOf(request) }, delivery);
}

/** What a catalogue finds a route by: as received, whatever a framework has made of it since. */
export function soughtOf(request: Incoming): Pick<SellerRequest, 'method' | 'target'> {
  return { method: request.method ?? '', target: request.originalUrl ?? request.url ?? '' };
}

/** What else a catalogue is told: the method that a preflight is about, and whether a payment comes with the request. */
export function hintsOf({ headers }: IncomingMessage): Pick<Sought, 'preflight' | 'pays'> {
  return {
    preflight: headers['access-control-request-method'],
    pays: headers['payment-signature'] !== undefined || headers['x-payment'] !== undefined,
  };
}

/** A response of HTTP/2 has other ways to the wire than those that are diverted: its terms would invite to pay for nothing. */
function checkVersion({ httpVersionMajor }: IncomingMessage): void {
  if (httpVersionMajor < 2) return;
  throw new TypeError('This gate serves HTTP/1.1. Let a proxy speak HTTP/2, or use the Hono adapter.');
}

function checkUnbegun(response: ServerResponse): void {
  if (response.headersSent) throw new TypeError('This response was begun before the payment gate.');
}

function sellerRequest(request: Incoming): SellerRequest {
  const { remoteAddress } = request.socket;
  return {
    ...soughtOf(request),
    headers: headerList(request.rawHeaders),
    readBody: (limits) => readBody(request, limits),
    ...(remoteAddress === undefined ? {} : { peer: remoteAddress }),
  };
}

/** From the raw list, since Node joins or drops duplicates in the other one (H08). */
function headerList(raw: readonly string[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2)
    list.push([String(raw[at]).toLowerCase(), String(raw[at + 1])]);
  return list;
}
