/** A connection on which the second half of a long answer never leaves. */
import type { Socket } from 'node:net';

/** Octets; what is shorter is a head or a refusal, and no long answer. */
export const longAnswer = 16_384;

/**
 * Writes half of the next long piece, and calls `die` once the kernel has it. `isDue` is asked at each long piece; while
 * it says no everything passes.
 */
export function cutShort(socket: Socket, isDue: () => boolean, die: () => void): void {
  const write: unknown = socket.write;
  if (typeof write !== 'function') return;
  const half = (piece: unknown, ...rest: readonly unknown[]): unknown => {
    if (!(piece instanceof Uint8Array) || piece.length < longAnswer || !isDue())
      return Reflect.apply(write, socket, [piece, ...rest]);
    return Reflect.apply(write, socket, [piece.subarray(0, piece.length >> 1), die]);
  };
  Object.assign(socket, { write: half });
}
