/** The process of the stand-in facilitator: it speaks the three calls of x402 over HTTP on the loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { serveParent } from '../process/serve.ts';
import { createStandIn } from '../server/facilitator.ts';
import { closeServer, listen } from '../server/listen.ts';

const standIn = createStandIn();

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(400).end());
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = JSON.stringify(await verdict(request));
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

async function verdict(request: IncomingMessage): Promise<unknown> {
  if (request.url === '/supported') return standIn.getSupported();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { paymentPayload } = JSON.parse(Buffer.concat(chunks).toString());
  return request.url === '/verify' ? standIn.verify(paymentPayload) : standIn.settle(paymentPayload);
}

serveParent({ open: async () => ({ port: await listen(server) }) }, () => closeServer(server));
