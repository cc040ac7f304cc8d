/**
 * Bodies as fetch has them, read to their end and never beyond a limit: that of a request before anything is claimed
 * (H12), that of an answer before anything leaves (H15).
 */
import type { BodyResult, SellerRequest } from '../../seller/index.ts';

/** Says what a programmer did wrong where a body cannot be read any more. */
export const takenMessage =
  'The body of this request was read before the payment gate saw it. Pass the request on unread.';

/** The whole body, or why there is none. Rejects with TypeError where somebody else has read it already. */
export async function readBody(
  request: Request,
  limits: Parameters<SellerRequest['readBody']>[0],
): Promise<BodyResult> {
  if (request.bodyUsed) throw new TypeError(takenMessage);
  // Asked for its body, a server may make a whole Request first; these two have none (fetch, section 5.4).
  const body = request.method === 'GET' || request.method === 'HEAD' ? null : request.body;
  if (body === null) return { kind: 'bytes', bytes: new Uint8Array() };
  if (body.locked) throw new TypeError(takenMessage);
  const late = AbortSignal.timeout(limits.timeoutMs);
  // Some platforms tell nobody when a client leaves: their requests have no signal.
  const gone: AbortSignal | null = request.signal;
  try {
    const stop = AbortSignal.any(gone instanceof AbortSignal ? [late, gone] : [late]);
    const bytes = await collect(body, limits.maxBytes, stop);
    return bytes.length > limits.maxBytes ? { kind: 'too_large' } : { kind: 'bytes', bytes };
  } catch {
    return { kind: late.aborted ? 'too_slow' : 'gone' };
  }
}

/** Reads a stream to its end, or to one octet beyond `maxBytes`; rejects when `stop` fires. */
export async function collect(
  stream: ReadableStream<unknown>,
  maxBytes: number,
  stop: AbortSignal,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  // Ends a pending read too; a source that cannot be canceled is left to itself.
  const cancel = (): void => void reader.cancel(stop.reason).catch(() => {});
  if (stop.aborted) cancel();
  else stop.addEventListener('abort', cancel, { once: true });
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    while (size <= maxBytes) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!(value instanceof Uint8Array)) throw new TypeError('A body is a stream of Uint8Array.');
      chunks.push(value);
      size += value.length;
    }
    stop.throwIfAborted();
    if (size > maxBytes) cancel();
    return joined(chunks, Math.min(size, maxBytes + 1));
  } finally {
    stop.removeEventListener('abort', cancel);
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, length - at), at);
    at += chunk.length;
  }
  return bytes;
}
