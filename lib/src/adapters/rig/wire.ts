/**
 * Servers and clients for the tests of the adapters: real sockets, and a client that writes octets as it is told and
 * shows every octet that comes back, since `fetch` would tidy up both ways.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export type Received = {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly header: (name: string) => string | undefined;
  readonly text: string;
};

export type Wire = {
  readonly socket: Socket;
  readonly send: (octets: string | Uint8Array) => void;
  /** Everything that came so far. */
  readonly soFar: () => string;
  /** The first answers, once so many are whole; interim ones count as answers without a body. */
  readonly answers: (count?: number) => Promise<readonly Received[]>;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
  /** Breaks the connection off and resolves when the server has noticed. */
  readonly leave: () => Promise<void>;
};

/** The connections of each server as it sees them, by its port. */
const connections = new Map<number, Set<Socket>>();

/** Serves on a free port of the loopback until the test is over. */
export async function serve(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => close(server));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const sockets = new Set<Socket>();
  connections.set(address.port, sockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return address.port;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Opens a connection that the test closes or that ends with the test's server. */
export function open(port: number): Wire {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const look of waiting) look();
  };
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    wake();
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const answers = (count = 1): Promise<readonly Received[]> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = split(text);
        if (found.length >= count) resolve(found);
        else if (socket.closed) reject(new Error(`closed after ${JSON.stringify(text)}`));
        else return;
        waiting.delete(look);
      };
      waiting.add(look);
      socket.once('close', look);
      look();
    });
  const leave = async (): Promise<void> => {
    const { localPort } = socket;
    socket.destroy();
    await until(() => ![...(connections.get(port) ?? [])].some(({ remotePort }) => remotePort === localPort));
  };
  return { socket, leave, send: (octets) => void socket.write(octets), soFar: () => text, answers, closed };
}

export type Asked = {
  readonly method?: string;
  readonly target?: string;
  /** Written as they stand, in this order. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly connection?: 'close' | 'keep-alive';
};

/** The octets of a request. */
export function octets(asked: Asked = {}): string {
  const { method = 'GET', target = '/weather', headers = [], body, connection = 'close' } = asked;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: api.example.com',
    `Connection: ${connection}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** One request on a connection of its own. */
export async function ask(port: number, asked: Asked = {}): Promise<Received> {
  const wire = open(port);
  wire.send(octets(asked));
  // A HEAD's answer is whole at its head.
  if (asked.method === 'HEAD') await wire.closed;
  const [answer] = asked.method === 'HEAD' ? split(wire.soFar(), true) : await wire.answers();
  wire.socket.destroy();
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

/** Lets the loop turn until something holds; a condition that never comes is the test runner's time-out. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

function split(text: string, bodiless = false): readonly Received[] {
  const found: Received[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return found;
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = lines.map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    });
    const header = (name: string): string | undefined => headers.find(([key]) => key === name)?.[1];
    const body = bodiless ? { text: '', length: 0 } : bodyAt(rest.slice(end + 4), header);
    if (body === undefined) return found;
    found.push({ status: Number(first.split(' ')[1]), headers, header, text: body.text });
    rest = rest.slice(end + 4 + body.length);
  }
}

/** The body at the beginning of `rest` and how much of it that is; undefined while it is not whole. */
function bodyAt(
  rest: string,
  header: (name: string) => string | undefined,
): { readonly text: string; readonly length: number } | undefined {
  if (header('transfer-encoding') === 'chunked') {
    const end = rest.search(/(?:^|\r\n)0\r\n\r\n/);
    if (end < 0) return undefined;
    const whole = rest.slice(0, end);
    // Texts of one line, so that only sizes are alone on a line of hexadecimal digits.
    const text = whole.replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, '');
    return { text, length: rest.indexOf('0\r\n\r\n', end) + 5 };
  }
  const length = Number(header('content-length') ?? 0);
  return rest.length < length ? undefined : { text: rest.slice(0, length), length };
}
