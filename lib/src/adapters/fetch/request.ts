/** A fetch Request as the seller is handed it, and the Request that the work is given in its place. */
import type { HeaderList, SellerRequest, Sought, WorkContext } from '../../seller/index.ts';
import { readBody } from './body.ts';

/** What a Request does not tell of how it came. */
export type Origin = {
  /** The address that it came from. */
  readonly peer?: string | undefined;
  /** The target, where that was not one of origin form and the URL was made of it. */
  readonly target?: string | undefined;
};

/** What the seller judges: the target as it stands, every field, and where it came from as far as that is known. */
export function sellerRequest(request: Request, origin: Origin = {}): SellerRequest {
  const { authority, target } = partsOf(request.url);
  const { peer } = origin;
  return {
    method: request.method,
    target: origin.target ?? target,
    headers: headersOf(request, authority),
    readBody: (limits) => readBody(request, limits),
    ...(peer === undefined ? {} : { peer }),
  };
}

/**
 * The signal of a request with a payment; others get answers that nobody watches. Platforms that make it when it is
 * asked for must be asked before the client can leave.
 */
export function goneSignal(request: Request): AbortSignal | undefined {
  return request.headers.has('payment-signature') ? request.signal : undefined;
}

/** What else a catalogue is told: the method that a preflight is about, and whether a payment comes with the request. */
export function hintsOf({ method, headers }: Request): Pick<Sought, 'preflight' | 'pays'> {
  const asked = method === 'OPTIONS' ? headers.get('access-control-request-method') : null;
  return {
    preflight: asked ?? undefined,
    pays: headers.has('payment-signature') || headers.has('x-payment'),
  };
}

/** The parts of a URL as they stand, its fragment left out; parsing it once more could spell it anew. */
export function partsOf(url: string): { readonly authority: string; readonly target: string } {
  const rest = url.slice(url.indexOf('//') + 2);
  const path = rest.search(/[/?#]/);
  if (path < 0) return { authority: rest, target: '' };
  const fragment = rest.indexOf('#');
  return { authority: rest.slice(0, path), target: rest.slice(path, fragment < 0 ? undefined : fragment) };
}

/** A platform that keeps Host to itself has put it into the URL. */
function headersOf(request: Request, authority: string): HeaderList {
  const headers = [...request.headers];
  return request.headers.has('host') ? headers : [['host', authority], ...headers];
}

/** What the work sees is what was bound and priced, octet for octet. */
export function pricedRequest<Parsed>({ request, signal }: WorkContext<Parsed>): Request {
  const { method, url, headers, body } = request;
  return new Request(url, {
    method,
    headers: headers.map(([name, value]) => [name, value]),
    signal,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
}
