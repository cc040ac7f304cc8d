/** Writes a delivery to the client and reports how that went: the first moment at which anything leaves. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, Delivery } from '../../seller/index.ts';
import { bodiless, foreignFields, listFields } from '../fields.ts';
import type { Client } from './gone.ts';

/** For frameworks whose handlers hold the very response that the answer is written to. */
export type Handover = {
  /** The response obeys the adapter again. */
  readonly take: () => void;
  /** The head and the body are out of our hands; from here on the handler writes to nowhere. */
  readonly done: () => void;
};

export type Recipient = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly client: Client;
  readonly handover?: Handover;
};

/** Octets that are copied once more to save a write. */
const shortBody = 16 * 1024;

/** Writes the answer and resolves when the seller has heard whether it went out whole. */
export async function deliver(recipient: Recipient, delivery: Delivery): Promise<void> {
  const how = await write(recipient, delivery.answer);
  // The answer is out or lost; nobody is left to whom a failing note could be told.
  await delivery.written(how).catch(() => {});
}

function write(recipient: Recipient, answer: Answer): Promise<'complete' | 'cut'> {
  const { request, response, client, handover } = recipient;
  handover?.take();
  const written = new Promise<'complete' | 'cut'>((resolve) => {
    if (client.gone() || response.writableEnded) return resolve('cut');
    const forget = client.onLeave(() => resolve('cut'));
    response.once('finish', () => {
      forget();
      resolve('complete');
    });
    try {
      if (!writeAtOnce(request, response, answer)) prepareHead(request, response, answer);
      // Whoever wrapped `end` sets its fields there, so the head waits for it; Node's own would garble a file name in
      // a content-disposition that comes with it.
      const own = response.end === ServerResponse.prototype.end;
      if (own && !response.headersSent) response.writeHead(answer.status);
      const body = Buffer.from(answer.body.buffer, answer.body.byteOffset, answer.body.length);
      // Node sends the head and a short text in one write, but a Buffer, which is what wrappers expect, in another.
      if (own && body.length <= shortBody) response.end(body.toString('latin1'), 'latin1');
      else response.end(body);
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

/** Where nothing was set before and nobody stands in between, the head is written as it is, at a third of the cost. */
function writeAtOnce(request: IncomingMessage, response: ServerResponse, answer: Answer): boolean {
  const { writeHead: write, end } = ServerResponse.prototype;
  if (response.end !== end || response.writeHead !== write || response.getHeaderNames().length > 0)
    return false;
  const fields: string[] = answer.headers.flat();
  if (!bodiless.includes(answer.status)) fields.push('content-length', String(answer.body.length));
  if (!request.complete) fields.push('connection', 'close');
  response.statusMessage = '';
  response.writeHead(answer.status, fields);
  return true;
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
