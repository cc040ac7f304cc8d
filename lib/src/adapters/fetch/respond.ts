/** A delivery as a Response, which reports how far it was taken. */
import type { Answer, Delivery, HeaderList } from '../../seller/index.ts';
import { bodiless, foreignFields, framing, listFields } from '../fields.ts';

/** Who a response is for. */
export type Receiver = {
  readonly method: string;
  /** From {@link goneSignal}. */
  readonly gone: AbortSignal | undefined;
  /** Fields set before the gate; they stay, so that a refusal is readable across origins too. */
  readonly before?: HeaderList;
};

/**
 * The body is pulled by whoever serves the response: asking beyond its end means that it was taken whole, canceling
 * it that it was not. A response without a body tells nothing and counts as written.
 */
export async function responseOf(delivery: Delivery, receiver: Receiver): Promise<Response> {
  if (delivery.untracked === true) return shortResponse(delivery.answer, receiver);
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
    if (gone?.aborted === true) await tell('cut');
    else if (empty) await tell('complete');
    else gone?.addEventListener('abort', () => void tell('cut'), { once: true });
    return response;
  } catch (fault) {
    await tell('cut');
    throw fault;
  }
}

/** One whose writing nobody watches needs no stream, and platforms write it in one go. */
function shortResponse(answer: Answer, { method, before = [] }: Receiver): Response {
  const bare = bodiless.includes(answer.status);
  const empty = answer.body.length === 0 || bare || method === 'HEAD';
  const length: HeaderList = bare ? [] : [['content-length', String(answer.body.length)]];
  const headers = before.length === 0 ? fieldsOf([...answer.headers, ...length]) : undefined;
  return new Response(empty ? null : contentOf(answer), {
    status: answer.status,
    headers: headers ?? joined(before, [...answer.headers, ...length]),
  });
}

const decoder = new TextDecoder();

/** Our own documents as text, which platforms write together with the head; a handler's octets as they are. */
function contentOf({ headers, body }: Answer): string | Uint8Array<ArrayBuffer> {
  const ours = headers.some(
    ([name, value]) => name === 'content-type' && value === 'application/problem+json',
  );
  return ours ? decoder.decode(body) : new Uint8Array(body);
}

/** Fields as an object, which platforms take over as it is; undefined where one stands twice. */
function fieldsOf(headers: HeaderList): Record<string, string> | undefined {
  const fields = Object.fromEntries(headers);
  return Object.keys(fields).length === headers.length ? fields : undefined;
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
