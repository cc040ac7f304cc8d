/**
 * Readers for a route's `parse`, so that the price and the work see one reading of a request (B11): what two parsers
 * could read in two ways is refused, and nothing falls back to a default.
 */
import { describeJsonFault, parseJson } from '../wire/json.ts';
import type { Json } from '../wire/v2.ts';
import type { HeaderList } from './message.ts';

/** Why a request cannot be read; its message is told to the buyer. Throw it from a route's `parse`. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';
}

type Readable = { readonly url: string; readonly headers: HeaderList; readonly body: Uint8Array };

/** A type of JSON by its registered suffix (RFC 6839), with or without a charset of UTF-8. */
const jsonType = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?$/i;

/**
 * The JSON body of a request. Throws {@link RequestFault} for another content type, an encoded body, duplicate keys at
 * any depth, text that is not UTF-8, and whatever else is not strict JSON; `maxLength` is in octets, default 1 MiB.
 */
export function readJson(request: Readable, limits: { readonly maxLength?: number } = {}): Json {
  const type = one(request.headers, 'content-type')?.trim() ?? '';
  if (!jsonType.test(type)) throw new RequestFault('The body must be JSON and say so in content-type.');
  const encoding = one(request.headers, 'content-encoding');
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw new RequestFault('The body must not be encoded.');
  const parsed = parseJson(request.body, { maxLength: limits.maxLength ?? 1024 * 1024 });
  if (!parsed.ok) throw new RequestFault(describeJsonFault(parsed));
  return parsed.value;
}

/** The query of a request, decoded as forms are; throws {@link RequestFault} where a name is given twice or is broken. */
export function readQuery(request: Pick<Readable, 'url'>): ReadonlyMap<string, string> {
  const { url } = request;
  const at = url.indexOf('?');
  const query = new Map<string, string>();
  if (at < 0) return query;
  for (const pair of url.slice(at + 1).split('&')) {
    if (pair === '') continue;
    const cut = pair.indexOf('=');
    const name = decoded(cut < 0 ? pair : pair.slice(0, cut));
    if (query.has(name)) throw new RequestFault('The query names a parameter twice.');
    query.set(name, cut < 0 ? '' : decoded(pair.slice(cut + 1)));
  }
  return query;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new RequestFault('The query has a broken escape.');
  }
}

function one(headers: HeaderList, name: string): string | undefined {
  const found = headers.filter(([header]) => header === name);
  if (found.length > 1) throw new RequestFault(`There is more than one ${name}.`);
  return found[0]?.[1];
}
