/**
 * Sells what a fetch-style handler answers: Request in, Response out, as Deno, Bun, Workers and most routers have it.
 * The body is read once, before anything is claimed, and the handler gets the octets that were fingerprinted.
 */
import type {
  Answer,
  BodyResult,
  Delivery,
  HeaderList,
  Route,
  Seller,
  SellerRequest,
  WorkContext,
} from '../seller/index.ts';
import { bodiless, framing } from './framing.ts';

/** A handler whose work is paid for; its request has our public URL, the priced headers and body, and the signal. */
export type PaidHandler<Parsed> = (
  request: Request,
  context: WorkContext<Parsed>,
) => Response | Promise<Response>;

/**
 * A fetch handler that sells `route`. Every method may be passed on to it: the seller answers HEAD and OPTIONS itself.
 *
 * @example
 * ```ts
 * const weather = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
 * export const fetch = paid(seller, weather, (_request, context) =>
 *   Response.json({ sky: 'clear', paidBy: context.payer }),
 * );
 * ```
 */
export function paid<Parsed>(
  seller: Pick<Seller, 'charge'>,
  route: Route<Parsed>,
  handler: PaidHandler<Parsed>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const work = async (context: WorkContext<Parsed>): Promise<Answer> =>
      answerOf(await handler(pricedRequest(context), context), route.maxAnswerBytes, context.signal);
    const delivery = await seller.charge(route, sellerRequest(request), work);
    return responseOf(delivery, request);
  };
}

function sellerRequest(request: Request): SellerRequest {
  return {
    method: request.method,
    target: targetOf(request.url),
    headers: [...request.headers],
    readBody: (limits) => readBody(request, limits),
    gone: request.signal,
  };
}

/** The URL as it stands, less its origin and fragment; parsing it once more could spell it anew. */
function targetOf(url: string): string {
  const authority = url.indexOf('//') + 2;
  const path = url.slice(authority).search(/[/?#]/);
  const target = path < 0 ? '' : url.slice(authority + path);
  const fragment = target.indexOf('#');
  return fragment < 0 ? target : target.slice(0, fragment);
}

async function readBody(
  request: Request,
  limits: Parameters<SellerRequest['readBody']>[0],
): Promise<BodyResult> {
  if (request.bodyUsed) {
    throw new TypeError(
      'The body of this request was read before the payment gate saw it. Pass the request on unread.',
    );
  }
  if (request.body === null) return { kind: 'bytes', bytes: new Uint8Array() };
  const late = AbortSignal.timeout(limits.timeoutMs);
  try {
    const bytes = await collect(request.body, limits.maxBytes, AbortSignal.any([late, request.signal]));
    return bytes.length > limits.maxBytes ? { kind: 'too_large' } : { kind: 'bytes', bytes };
  } catch {
    return { kind: late.aborted ? 'too_slow' : 'gone' };
  }
}

/** What the work sees is what was bound and priced, octet for octet. */
function pricedRequest<Parsed>({ request, signal }: WorkContext<Parsed>): Request {
  const { method, url, headers, body } = request;
  return new Request(url, {
    method,
    headers: headers.map(([name, value]) => [name, value]),
    signal,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
}

/** One octet more than may be sold is read of an answer that is too large, so that it can be refused. */
async function answerOf(response: Response, maxBytes: number, signal: AbortSignal): Promise<Answer> {
  if (response.type === 'error') throw new TypeError('The handler answered with Response.error().');
  const body = response.body === null ? new Uint8Array() : await collect(response.body, maxBytes, signal);
  const headers: HeaderList = [...response.headers].filter(([name]) => !framing.includes(name));
  return { status: response.status, headers, body };
}

/** Reads a stream to its end, or to one octet beyond `maxBytes`; rejects when `stop` fires. */
async function collect(
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

/**
 * The body is pulled by whoever serves the response: asking beyond its end means that it was taken whole, canceling
 * it that it was not. A response without a body tells nothing and counts as written.
 */
async function responseOf(delivery: Delivery, request: Request): Promise<Response> {
  const { answer } = delivery;
  let told = false;
  const tell = async (how: 'complete' | 'cut'): Promise<void> => {
    if (told) return;
    told = true;
    await delivery.written(how);
  };
  const empty = answer.body.length === 0 || bodiless.includes(answer.status) || request.method === 'HEAD';
  const headers = answer.headers.map(([name, value]): [string, string] => [name, value]);
  if (!bodiless.includes(answer.status)) headers.push(['content-length', String(answer.body.length)]);
  try {
    const response = new Response(empty ? null : bodyOf(answer.body, tell), {
      status: answer.status,
      headers,
    });
    if (request.signal.aborted) await tell('cut');
    else if (empty) await tell('complete');
    else request.signal.addEventListener('abort', () => void tell('cut'), { once: true });
    return response;
  } catch (fault) {
    await tell('cut');
    throw fault;
  }
}

function bodyOf(
  bytes: Uint8Array,
  tell: (how: 'complete' | 'cut') => Promise<void>,
): ReadableStream<Uint8Array> {
  let sent = false;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    if (!sent) {
      sent = true;
      controller.enqueue(bytes);
      return;
    }
    controller.close();
    await tell('complete');
  };
  // Nothing is taken in advance: a pull is then always the reader's own.
  return new ReadableStream({ pull, cancel: () => tell('cut') }, { highWaterMark: 0 });
}
