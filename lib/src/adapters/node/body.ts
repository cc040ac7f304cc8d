/**
 * Reads a request's body before anything is claimed (H12) and puts it back, so that whatever runs behind the gate,
 * a parser or a bare stream reader, sees the octets that were fingerprinted. Only the public stream interface is
 * used: a stream that was read to its last octet, but not past it, has not ended and takes its octets back.
 */
import type { IncomingMessage } from 'node:http';
import type { BodyResult, SellerRequest } from '../../seller/index.ts';

type Limits = Parameters<SellerRequest['readBody']>[0];

/**
 * A body over the limit is read this much further and thrown away: a client that has sent all it has can read the
 * refusal, where one that is cut off in the middle of sending sees a reset connection.
 */
const discardBytes = 1024 * 1024;

/** Says what a programmer did wrong where a body cannot be read any more. */
export const takenMessage =
  'The body of this request was read before the payment gate saw it. Mount the gate before every body parser.';

/**
 * The whole body, or why there is none. Rejects with TypeError where somebody else has read it already: those octets
 * can be neither fingerprinted nor put back.
 */
export async function readBody(request: IncomingMessage, limits: Limits): Promise<BodyResult> {
  if (!framesBody(request)) return { kind: 'bytes', bytes: new Uint8Array() };
  // The parser is still in the packet that brought the head; the rest of that packet is in the stream a turn later.
  if (!request.complete) await new Promise((resolve) => setImmediate(resolve));
  if (bodyTaken(request)) throw new TypeError(takenMessage);
  const pile = createPile(limits.maxBytes);
  const how = request.complete ? takeAll(request, pile) : await collect(request, pile, limits.timeoutMs);
  if (how !== 'whole') return { kind: how };
  const bytes = Buffer.concat(pile.chunks);
  if (declaredLength(request) !== undefined && declaredLength(request) !== bytes.length) {
    throw new TypeError(takenMessage);
  }
  if (bytes.length > 0) request.unshift(bytes);
  return { kind: 'bytes', bytes };
}

/** Somebody has read from this body, or is reading: the gate stands behind a parser. */
export function bodyTaken(request: IncomingMessage): boolean {
  if (!framesBody(request)) return false;
  return (
    request.readableDidRead ||
    request.readableEnded ||
    request.readableFlowing === true ||
    request.readableEncoding !== null
  );
}

type Pile = { chunks: Uint8Array[]; size: number; readonly maxBytes: number };

function createPile(maxBytes: number): Pile {
  return { chunks: [], size: 0, maxBytes };
}

/** Moves what has arrived onto the pile; never asks the stream for more than it has, which would end it. */
function takeAll(request: IncomingMessage, pile: Pile): 'whole' | 'too_large' {
  while (request.readableLength > 0) {
    const chunk: unknown = request.read(request.readableLength);
    if (!(chunk instanceof Uint8Array)) break;
    pile.size += chunk.length;
    if (pile.size <= pile.maxBytes) pile.chunks.push(chunk);
    else pile.chunks = [];
  }
  return pile.size > pile.maxBytes ? 'too_large' : 'whole';
}

function collect(
  request: IncomingMessage,
  pile: Pile,
  timeoutMs: number,
): Promise<'whole' | 'too_large' | 'too_slow' | 'gone'> {
  return new Promise((resolve) => {
    const finish = (how: 'whole' | 'too_large' | 'too_slow' | 'gone'): void => {
      clearTimeout(timer);
      request.off('readable', arrive).off('close', leave).off('error', leave);
      resolve(how);
    };
    const arrive = (): void => {
      const how = takeAll(request, pile);
      if (request.complete || pile.size > pile.maxBytes + discardBytes) finish(how);
    };
    const leave = (): void => finish('gone');
    const timer = setTimeout(() => finish(pile.size > pile.maxBytes ? 'too_large' : 'too_slow'), timeoutMs);
    if (request.destroyed) return leave();
    request.on('readable', arrive).on('close', leave).on('error', leave);
  });
}

/** RFC 9112, section 6: a request has a body only if it says how long that is. */
function framesBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || (declaredLength(request) ?? 0) > 0;
}

function declaredLength(request: IncomingMessage): number | undefined {
  const text = request.headers['content-length'];
  return text === undefined || request.headers['transfer-encoding'] !== undefined ? undefined : Number(text);
}
