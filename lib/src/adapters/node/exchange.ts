/** One request to a priced route, as node:http shows it, taken through the seller to a written answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeaderList, Route, Seller, SellerRequest, Work } from '../../seller/index.ts';
import { readBody } from './body.ts';
import { deliver, type Handover } from './deliver.ts';
import { goneSignal } from './gone.ts';

export type Exchange<Parsed> = {
  /** `originalUrl` is what frameworks that strip a mount prefix keep the received target in (H05). */
  readonly request: IncomingMessage & { readonly originalUrl?: string };
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
  if (response.headersSent) throw new TypeError('This response was begun before the payment gate.');
  // The payment was for the first gate and is hidden from whatever stands behind it, so the second would refuse it.
  if (atWork.has(request))
    throw new TypeError(
      `This request has passed a payment gate before that of ${route.name}; one is enough.`,
    );
  const gone = goneSignal(request, response);
  const delivery = await seller.charge(route, sellerRequest(request, gone), (context) => {
    atWork.add(request);
    return work(context);
  });
  await deliver({ request, response, gone, ...(handover === undefined ? {} : { handover }) }, delivery);
}

function sellerRequest(request: Exchange<unknown>['request'], gone: AbortSignal): SellerRequest {
  return {
    method: request.method ?? '',
    target: request.originalUrl ?? request.url ?? '',
    headers: headerList(request.rawHeaders),
    readBody: (limits) => readBody(request, limits),
    gone,
  };
}

/** From the raw list, since Node joins or drops duplicates in the other one (H08). */
function headerList(raw: readonly string[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2)
    list.push([String(raw[at]).toLowerCase(), String(raw[at + 1])]);
  return list;
}
