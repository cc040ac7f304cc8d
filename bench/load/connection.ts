/**
 * One kept-alive connection that writes prepared octets and tells when the answer is whole. It reads no more of an
 * answer than its status and its end, so that the load costs little of the machine that it shares with the server.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type Connection = {
  /** Writes one request and resolves with the status of its answer once that is whole; one at a time. */
  readonly ask: (request: Uint8Array) => Promise<Reply>;
  readonly close: () => void;
};

export type Reply = {
  readonly status: number;
  /** The head, for whoever wants a field of it. */
  readonly head: string;
  /** From the writing of the request to the last octet of the answer. */
  readonly tookMs: number;
};

/** The octets of a GET request that carries a payment or does not. */
export function requestOctets(port: number, path: string, payment?: string): Uint8Array {
  const paid = payment === undefined ? '' : `PAYMENT-SIGNATURE: ${payment}\r\n`;
  return Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: */*\r\n${paid}\r\n`,
    'latin1',
  );
}

type Waiting = {
  readonly startMs: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (fault: Error) => void;
};

/** Opens a connection to a port of this machine. */
export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return speak(socket);
}

function speak(socket: Socket): Connection {
  let kept: Buffer = Buffer.alloc(0);
  let waiting: Waiting | undefined;
  const fail = (why: string): void => {
    waiting?.reject(new Error(why));
    waiting = undefined;
  };
  socket.on('error', (fault) => fail(fault.message));
  socket.on('close', () => fail('the server closed the connection'));
  socket.on('data', (chunk) => {
    kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
    const answer = readAnswer(kept);
    if (answer === undefined) return;
    kept = kept.subarray(answer.length);
    const asked = waiting;
    waiting = undefined;
    asked?.resolve({ status: answer.status, head: answer.head, tookMs: performance.now() - asked.startMs });
  });
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) {
          reject(new Error('the connection is closed'));
          return;
        }
        waiting = { startMs: performance.now(), resolve, reject };
        socket.write(request);
      }),
    close: () => void socket.destroy(),
  };
}

export type Whole = { readonly status: number; readonly head: string; readonly length: number };

/** The answer at the beginning of `octets`, or undefined while it is not whole. */
export function readAnswer(octets: Buffer): Whole | undefined {
  const end = octets.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = octets.toString('latin1', 0, end);
  const length = lengthOf(octets, head, end + 4);
  return length === undefined ? undefined : { status: Number(head.slice(9, 12)), head, length };
}

function lengthOf(octets: Buffer, head: string, bodyAt: number): number | undefined {
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (declared !== undefined) {
    const length = bodyAt + Number(declared);
    return octets.length < length ? undefined : length;
  }
  // One answer at a time is in flight, so the end of what came is the end of a chunked body.
  const last = octets.toString('latin1', Math.max(bodyAt - 2, octets.length - 7));
  return last.endsWith('\r\n0\r\n\r\n') || last === '0\r\n\r\n' ? octets.length : undefined;
}

/** The value of a field of a head, or undefined. */
export function fieldOf(head: string, name: string): string | undefined {
  const line = head.split('\r\n').find((text) => text.toLowerCase().startsWith(`${name}:`));
  return line?.slice(name.length + 1).trim();
}
