/** What every adapter knows of header fields: which are the connection's, which a gate strikes out, which are lists. */
import { cacheFields, type HeaderList } from '../seller/index.ts';

/** Fields that belong to one connection and its framing, never to an answer (RFC 9110, section 7.6.1). */
export const framing: readonly string[] = [
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Statuses whose messages have no content (RFC 9110, section 15). */
export const bodiless: readonly number[] = [204, 205, 304];

/**
 * Set before the gate by somebody who did not know that this route is paid for, these would let a cache keep what
 * the seller's own Cache-Control forbids (H06), or describe another body than the one that is sold.
 */
export const foreignFields: readonly string[] = [
  ...cacheFields,
  'etag',
  'last-modified',
  'transfer-encoding',
];

/** Lists to which the answer adds and that somebody before the gate, such as a CORS middleware, may have begun. */
export const listFields: ReadonlySet<string> = new Set([
  'access-control-expose-headers',
  'set-cookie',
  'vary',
]);

/** Whether a value can be sent as it is: no control character and nothing beyond one octet (RFC 9110, section 5.5). */
export function isFieldValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** The fields of an answer that were not there, with that very value, before its handler came. */
export function without(before: HeaderList, fields: HeaderList): HeaderList {
  if (before.length === 0) return fields;
  const known = new Set(before.map((field) => field.join('\n')));
  return fields.filter((field) => !known.has(field.join('\n')));
}
