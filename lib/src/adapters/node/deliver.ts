/** Writes a delivery to the client and reports how that went: the first moment at which anything leaves. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, Delivery } from '../../seller/index.ts';
import { bodiless, foreignFields, listFields } from '../fields.ts';

/** For frameworks whose handlers hold the very response that the answer is written to. */
export type Handover = {
  /** The response obeys the adapter again. */
  readonly take: () => void;
  /** The head and the body are out of our hands; from here on the handler writes to nowhere. */
  readonly done: () => void;
};

export type Client = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly gone: AbortSignal;
  readonly handover?: Handover;
};

/** Writes the answer and resolves when the seller has heard whether it went out whole. */
export async function deliver(client: Client, delivery: Delivery): Promise<void> {
  const how = await write(client, delivery.answer);
  // The answer is out or lost; nobody is left to whom a failing note could be told.
  await delivery.written(how).catch(() => {});
}

function write(client: Client, answer: Answer): Promise<'complete' | 'cut'> {
  const { request, response, gone, handover } = client;
  handover?.take();
  const written = new Promise<'complete' | 'cut'>((resolve) => {
    if (gone.aborted || response.writableEnded) return resolve('cut');
    response.once('finish', () => resolve('complete'));
    gone.addEventListener('abort', () => resolve('cut'), { once: true });
    try {
      prepareHead(request, response, answer);
      // Whoever wrapped `end` sets its fields there, so the head waits for it; Node's own would garble a file name in
      // a content-disposition that comes with it.
      if (response.end === ServerResponse.prototype.end) response.writeHead(answer.status);
      // As a Buffer, which is what wrappers expect.
      response.end(Buffer.from(answer.body.buffer, answer.body.byteOffset, answer.body.length));
      // A wrapper that ends later finds the response handed over: the head is safe before that.
      if (!response.headersSent) response.writeHead(answer.status);
    } catch {
      // A field that cannot be sent: half an answer is worse than none.
      response.destroy();
    }
  });
  handover?.done();
  return written;
}

/** Fields that were set before the gate stay, so that a refusal is readable across origins too. */
function prepareHead(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  // Node takes the removal of a field that is not there for a wish about its own framing.
  for (const name of foreignFields) if (response.hasHeader(name)) response.removeHeader(name);
  for (const [name] of answer.headers) if (!listFields.has(name)) response.removeHeader(name);
  for (const [name, value] of answer.headers) response.appendHeader(name, value);
  if (bodiless.includes(answer.status)) response.removeHeader('content-length');
  else response.setHeader('content-length', answer.body.length);
  // A body that was not read to its end leaves the connection in the middle of a message.
  if (!request.complete) response.setHeader('connection', 'close');
  response.statusMessage = '';
  response.statusCode = answer.status;
}
