/**
 * The buyer's connection as a handler may know it. Whoever destroys it, as Express does when a handler fails in the
 * middle of its answer, has given up its work and not the connection: the seller still has something to say on it.
 * So has whoever writes to it, past the answer that is sold (H15).
 */
import type { Socket } from 'node:net';

const endings: readonly (string | symbol)[] = ['destroy', 'destroySoon', 'resetAndDestroy'];
const writers: readonly (string | symbol)[] = ['end', 'write'];

/** The same socket, except that ending it, or writing to it, calls `giveUp`. */
export function guarded(socket: Socket, giveUp: (fault: unknown) => void): Socket {
  const proxy: Socket = new Proxy(socket, {
    get: (target, name) => {
      if (endings.includes(name)) {
        return (fault?: unknown) => {
          giveUp(fault ?? new Error('The handler closed the connection before it had ended its answer.'));
          return proxy;
        };
      }
      if (writers.includes(name)) {
        return () => {
          giveUp(new Error('The handler wrote to the connection and not into its answer.'));
          return name === 'end' ? proxy : false;
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return proxy;
}
