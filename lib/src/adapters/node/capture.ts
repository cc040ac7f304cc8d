/**
 * A response whose octets go nowhere. The handler gets a whole ServerResponse of its own, joined to a socket that
 * swallows everything, so that each way to write, early heads, interim answers and trailers included, behaves as Node
 * made it and no octet can leave before the seller allows it (H15). What was written is kept as one answer, bounded.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Answer } from '../../seller/index.ts';
import { bodiless, framing, without } from '../fields.ts';
import { guarded } from './guard.ts';

export type Capture = {
  /** Give this to the handler. */
  readonly response: ServerResponse;
  /**
   * Resolves when the handler ends its answer. One that grows past `maxBytes` resolves at once, cut off one octet
   * beyond, so that it can be refused without being held. Rejects when the signal fires or the response is destroyed.
   */
  readonly answer: Promise<Answer>;
  /** The handler threw; a no-op once the answer is whole. */
  readonly fail: (fault: unknown) => void;
};

export type CaptureOptions = {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** The response to the client; the handler starts from its status and header fields. */
  readonly real: ServerResponse;
  /** The object that the handler holds, where that is not the captured response itself. */
  readonly front?: ServerResponse;
};

/** Begins a capture for one run of a handler. */
export function captureAnswer(request: IncomingMessage, options: CaptureOptions): Capture {
  const { maxBytes, signal } = options;
  const response = seeded(new ServerResponse(request), options.real);
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>();
  const readHead = headReader(response);
  const chunks: Uint8Array[] = [];
  let size = 0;
  let head: Head | undefined;
  let over = false;

  const conclude = (): boolean => {
    const first = !over;
    over = true;
    signal.removeEventListener('abort', abort);
    return first;
  };
  const finish = (): void => {
    if (!conclude()) return;
    const { status, headers } = head ?? readHead();
    if (status < 200) reject(new Error(`${status} is no final status.`));
    else
      resolve({
        status,
        headers,
        body: bodiless.includes(status) ? new Uint8Array() : Buffer.concat(chunks),
      });
  };
  const fail = (fault: unknown): void => {
    if (!conclude()) return;
    reject(fault);
    // As if the client had gone: sources that are piped in stop, and later writes come to nothing.
    response.destroy();
  };
  const abort = (): void => fail(signal.reason);
  const chunk = (bytes: Uint8Array): void => {
    const room = maxBytes + 1 - size;
    if (room <= 0) return;
    // A copy, since the handler may use its buffer again.
    chunks.push(Uint8Array.prototype.slice.call(bytes, 0, room));
    size += Math.min(bytes.length, room);
    if (size <= maxBytes) return;
    finish();
    response.destroy();
  };
  observe(response, {
    front: options.front ?? response,
    head: () => {
      head ??= readHead();
    },
    chunk,
    end: finish,
  });
  request.socket = guarded(request.socket, fail);
  // The older name under which Node shows the same connection.
  Reflect.set(request, 'client', request.socket);
  // A server says this of its connections, and one that nobody listens to is closed (node:http, response.setTimeout).
  response.socket?.on('timeout', (socket: unknown) => {
    if (!response.emit('timeout', socket)) fail(new Error('The handler let its own time-out pass.'));
  });
  response.once('close', () => fail(new Error('The handler closed its response before it had ended it.')));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  return { response, answer, fail };
}

type Head = Pick<Answer, 'status' | 'headers'>;

/** A socket that takes everything at once and sends nothing. */
class Sink extends Socket {
  constructor() {
    // Room without end: the "drain" of a full socket is said by the server that owns it, and nobody owns this one.
    const options = { allowHalfOpen: true, writableHighWaterMark: Number.MAX_SAFE_INTEGER };
    super(options);
  }
  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    this.#stir();
    done();
  }
  override _writev(_chunks: unknown, done: () => void): void {
    this.#stir();
    done();
  }
  override _final(done: () => void): void {
    done();
  }
  /** What is written begins the handler's time-out anew, as on a connection. */
  #stir(): void {
    if (this.timeout !== undefined && this.timeout > 0) this.setTimeout(this.timeout);
  }
}

function seeded(response: ServerResponse, real: ServerResponse): ServerResponse {
  response.assignSocket(new Sink());
  response.statusCode = real.statusCode;
  // Fields given to writeHead can be read back only where setHeader was used before (node:http, response.writeHead).
  response.setHeader('x-seeded', '1');
  response.removeHeader('x-seeded');
  for (const name of real.getHeaderNames()) {
    const value = real.getHeader(name);
    if (value !== undefined) response.setHeader(name, value);
  }
  // A slip of the handler, such as a write after the end, must not end the process.
  response.on('error', () => {});
  response.once('finish', () => response.destroy());
  return response;
}

/** Reads status and fields; what was there before the handler came is no part of its answer. */
function headReader(response: ServerResponse): () => Head {
  const before = fieldsOf(response);
  return () => ({ status: response.statusCode, headers: without(before, fieldsOf(response)) });
}

type Watch = {
  readonly front: ServerResponse;
  readonly head: () => void;
  readonly chunk: (bytes: Uint8Array) => void;
  readonly end: () => void;
};

/** Own properties, since a framework may give the response another prototype. */
function observe(response: ServerResponse, watch: Watch): void {
  const { writeHead, write, end, flushHeaders } = response;
  /** Through the front, so that whatever wrapped writeHead behind the gate has its turn. */
  const begin = (): void => {
    if (!response.headersSent && !response.destroyed) watch.front.writeHead(response.statusCode);
  };
  const take = (chunk: unknown, encoding: unknown): void => {
    if (typeof chunk === 'string') watch.chunk(Buffer.from(chunk, isEncoding(encoding) ? encoding : 'utf8'));
    else if (chunk instanceof Uint8Array) watch.chunk(chunk);
  };
  const open = (): boolean => !response.writableEnded && !response.destroyed;
  response.writeHead = (...parts: unknown[]): ServerResponse => {
    Reflect.apply(writeHead, response, parts);
    watch.head();
    return response;
  };
  response.flushHeaders = (): void => {
    begin();
    Reflect.apply(flushHeaders, response, []);
  };
  response.write = (...parts: unknown[]): boolean => {
    begin();
    const live = open();
    const more: unknown = Reflect.apply(write, response, parts);
    if (live) take(parts[0], parts[1]);
    return more === true;
  };
  response.end = (...parts: unknown[]): ServerResponse => {
    begin();
    const live = open();
    Reflect.apply(end, response, parts);
    if (live) {
      take(parts[0], parts[1]);
      watch.end();
    }
    return response;
  };
}

function isEncoding(text: unknown): text is BufferEncoding {
  return typeof text === 'string' && Buffer.isEncoding(text);
}

function fieldsOf(response: ServerResponse): readonly (readonly [string, string])[] {
  return response.getHeaderNames().flatMap((name) => {
    const value = framing.includes(name) ? undefined : response.getHeader(name);
    if (value === undefined) return [];
    return (Array.isArray(value) ? value : [value]).map((text) => [name, String(text)] as const);
  });
}
