/** A delivery as a Response, which reports how far it was taken. */
import type { Delivery, HeaderList } from '../../seller/index.ts';
import { bodiless, foreignFields, framing, listFields } from '../fields.ts';

/** Who a response is for. */
export type Receiver = {
  readonly method: string;
  readonly gone: AbortSignal;
  /** Fields set before the gate; they stay, so that a refusal is readable across origins too. */
  readonly before?: HeaderList;
};

/**
 * The body is pulled by whoever serves the response: asking beyond its end means that it was taken whole, canceling
 * it that it was not. A response without a body tells nothing and counts as written.
 */
export async function responseOf(delivery: Delivery, receiver: Receiver): Promise<Response> {
  const { answer } = delivery;
  const { method, gone, before = [] } = receiver;
  let told = false;
  const tell = async (how: 'complete' | 'cut'): Promise<void> => {
    if (told) return;
    told = true;
    await delivery.written(how);
  };
  const empty = answer.body.length === 0 || bodiless.includes(answer.status) || method === 'HEAD';
  try {
    const headers = joined(before, answer.headers);
    if (!bodiless.includes(answer.status)) headers.set('content-length', String(answer.body.length));
    const response = new Response(empty ? null : bodyOf(answer.body, tell), {
      status: answer.status,
      headers,
    });
    if (gone.aborted) await tell('cut');
    else if (empty) await tell('complete');
    else gone.addEventListener('abort', () => void tell('cut'), { once: true });
    return response;
  } catch (fault) {
    await tell('cut');
    throw fault;
  }
}

/** The answer's fields over those from before the gate; lists go on where they were begun. */
function joined(before: HeaderList, own: HeaderList): Headers {
  const replaced = new Set(own.map(([name]) => name).filter((name) => !listFields.has(name)));
  const headers = new Headers();
  for (const [name, value] of before) {
    if (replaced.has(name) || foreignFields.includes(name) || framing.includes(name)) continue;
    headers.append(name, value);
  }
  for (const [name, value] of own) headers.append(name, value);
  return headers;
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
