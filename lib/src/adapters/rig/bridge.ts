/** The least that a server does to serve a fetch handler on a socket; the real ones do the same. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Serves a fetch handler from a node:http server. */
export function bridge(handler: (request: Request) => Promise<Response>): RequestListener {
  return async (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) left.abort();
    });
    const request = requestOf(incoming, left.signal);
    const response = request === undefined ? new Response(null, { status: 400 }) : await handler(request);
    if (outgoing.destroyed) return;
    await write(response, outgoing);
  };
}

/** Undefined where the target makes no URL. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const url = `http://127.0.0.1${incoming.url}`;
  if (!URL.canParse(url)) return undefined;
  const headers = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
    headers.append(String(incoming.rawHeaders[at]), String(incoming.rawHeaders[at + 1]));
  }
  const hasBody = Number(incoming.headers['content-length'] ?? 0) > 0;
  return new Request(url, {
    method: incoming.method ?? 'GET',
    headers,
    signal,
    ...(hasBody ? { body: bodyOf(incoming), duplex: 'half' } : {}),
  });
}

function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let open = true;
  return new ReadableStream({
    start: (controller) => {
      incoming.on('data', (chunk: Buffer) => open && controller.enqueue(new Uint8Array(chunk)));
      incoming.once('end', () => open && controller.close());
      incoming.once('error', (fault) => controller.error(fault));
    },
    cancel: () => {
      open = false;
    },
  });
}

async function write(response: Response, outgoing: ServerResponse): Promise<void> {
  const reader = response.body?.getReader();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) void reader?.cancel();
  });
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  outgoing.writeHead(response.status);
  for (;;) {
    const step = await reader?.read();
    if (step === undefined || step.done) break;
    await new Promise((resolve) => outgoing.write(step.value, resolve));
  }
  outgoing.end();
}
