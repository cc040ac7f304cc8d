/** A handler's Response as the seller keeps it: read to its end, or refused, before anything of it leaves. */
import type { Answer, HeaderList } from '../../seller/index.ts';
import { framing, isFieldValue, without } from '../fields.ts';
import { collect } from './body.ts';

/** One octet more than may be sold is read of an answer that is too large, so that it can be refused. */
export async function answerOf(
  response: Response,
  limits: { readonly maxBytes: number; readonly signal: AbortSignal },
  before: HeaderList = [],
): Promise<Answer> {
  if (response.type === 'error') throw new TypeError('The handler answered with Response.error().');
  const own = [...response.headers].filter(([name]) => !framing.includes(name));
  const bad = own.find(([, value]) => !isFieldValue(value));
  // Found after the payment, it could only cut the answer off (H11).
  if (bad !== undefined) throw new TypeError(`The header field "${bad[0]}" of the answer cannot be sent.`);
  const body =
    response.body === null ? new Uint8Array() : await collect(response.body, limits.maxBytes, limits.signal);
  return { status: response.status, headers: without(before, own), body };
}
