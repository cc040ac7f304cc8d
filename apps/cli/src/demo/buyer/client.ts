/**
 * Requests over real sockets, each timed: what a seller answered, or that the connection was cut. Nothing is retried
 * and no redirect is followed.
 */
import { connect } from 'node:net';
import {
  decodePaymentResponse,
  isJsonObject,
  parseJson,
  paymentResponseHeader,
  paymentSignatureHeader,
} from 'counterfoil/wire';
import { Agent, request } from 'undici';

/** An answer; times are Unix milliseconds at this client. */
export type Reply = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly startMs: number;
  readonly endMs: number;
};

/** A request as it is sent; GET without more. */
export type Asked = {
  readonly url: string;
  readonly method?: string;
  /** JSON text. */
  readonly body?: string;
  /** The Host header, where it is not that of the URL. */
  readonly host?: string;
};

export type Client = {
  /** A payment travels in PAYMENT-SIGNATURE. Rejects when the connection is cut. */
  readonly send: (asked: Asked, payment?: string) => Promise<Reply>;
  readonly get: (url: string, payment?: string) => Promise<Reply>;
  /** Opens `connections` connections and leaves them open, by that many free requests at the same time. */
  readonly warm: (url: string, connections: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The longest that an answer may take; a handler of the longest length and a slow machine fit. */
const answerLimitMs = 60_000;
/** Answers of the demonstration are a few hundred octets. */
const connectLimitMs = 10_000;

/** A client that opens up to `connections` connections to one seller. */
export function createClient(connections: number): Client {
  const agent = new Agent({
    connections,
    pipelining: 1,
    connect: { timeout: connectLimitMs },
    headersTimeout: answerLimitMs,
    bodyTimeout: answerLimitMs,
    keepAliveTimeout: answerLimitMs,
  });
  const send: Client['send'] = async (asked, payment) => {
    const { url, method = 'GET', body: sent = null } = asked;
    const startMs = Date.now();
    const answer = await request(url, {
      dispatcher: agent,
      method,
      body: sent,
      headers: {
        ...Object.fromEntries(headersOf(asked)),
        ...(asked.host === undefined ? {} : { host: asked.host }),
        ...(payment === undefined ? {} : { [paymentSignatureHeader]: payment }),
      },
    });
    const body = await answer.body.text();
    const fields = Object.entries(answer.headers).map(
      ([name, value]) => [name.toLowerCase(), [value ?? ''].flat().join(', ')] as const,
    );
    return { status: answer.statusCode, headers: new Map(fields), body, startMs, endMs: Date.now() };
  };
  const get: Client['get'] = (url, payment) => send({ url }, payment);
  return {
    send,
    get,
    warm: async (url, count) => {
      await Promise.all(Array.from({ length: count }, () => get(url)));
    },
    close: () => agent.destroy(),
  };
}

/** What a request says of its body, beside its payment and its host. */
export function headersOf(asked: Asked): readonly (readonly [name: string, value: string])[] {
  return asked.body === undefined ? [] : [['content-type', 'application/json']];
}

/** A request whose client hangs up. */
export type Abandoned = {
  /** Resolves when the request is on its way. */
  readonly sent: Promise<void>;
  /** Destroys the socket; resolves with the number of octets of an answer that had come by then. */
  readonly hangUp: () => Promise<number>;
};

/** Sends a paid GET over a socket of its own, to be cut before the answer is read. */
export function abandon(url: string, payment: string): Abandoned {
  const { hostname, port, host, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  const closed = Promise.withResolvers<number>();
  const sent = Promise.withResolvers<void>();
  let octets = 0;
  socket.on('data', (chunk) => {
    octets += chunk.length;
  });
  socket.on('error', sent.reject);
  socket.on('close', () => closed.resolve(octets));
  // A rejection is read by whoever awaits `sent`; nobody may.
  sent.promise.catch(() => {});
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    `${paymentSignatureHeader}: ${payment}`,
    '',
    '',
  ];
  socket.write(lines.join('\r\n'), () => sent.resolve());
  return {
    sent: sent.promise,
    hangUp: () => {
      socket.destroy();
      return closed.promise;
    },
  };
}

/** The transaction that PAYMENT-RESPONSE names for a settled payment. */
export function transactionIn(reply: Reply): string | undefined {
  const header = reply.headers.get(paymentResponseHeader);
  const response = header === undefined ? undefined : decodePaymentResponse(header);
  return response?.ok === true && response.value.success ? response.value.transaction : undefined;
}

/** The `code` of a problem document, or nothing. */
export function problemIn(reply: Reply): string | undefined {
  const json = parseJson(reply.body);
  const code = json.ok && isJsonObject(json.value) ? json.value.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** `1 x 200, 49 x 402`, most severe last. */
export function countStatuses(replies: readonly Pick<Reply, 'status'>[]): string {
  const counts = new Map<number, number>();
  for (const { status } of replies) counts.set(status, (counts.get(status) ?? 0) + 1);
  const sorted = [...counts].sort(([a], [b]) => a - b);
  return sorted.map(([status, count]) => `${count} x ${status}`).join(', ');
}
