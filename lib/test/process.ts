/**
 * A process around a seller, as an operating system sees it: it can stand still (SIGSTOP) and it can die (SIGKILL)
 * between any two things that it does. What has left it, a call on its way to a store or a facilitator, goes on.
 */
import type { World } from '../src/world.ts';

/** What happens at one call: as asked; or an error, a halt or death, before it takes effect or after. */
export type Fate =
  | 'ok'
  | 'fails_before'
  | 'fails_after'
  | 'halts_before'
  | 'halts_after'
  | 'dies_before'
  | 'dies_after';

export type Process = {
  readonly world: World;
  readonly state: () => 'up' | 'paused' | 'dead';
  readonly pause: () => void;
  readonly resume: () => void;
  readonly kill: () => void;
  /** Resolves when the process dies: its connections are reset. */
  readonly died: Promise<void>;
  /** Waits while the process stands still, and for ever once it is dead. */
  readonly alive: () => Promise<void>;
  /** The same object as the process reaches it; `fate` decides about each call. */
  readonly reach: <T extends object>(target: T, fate: (method: string) => Fate) => T;
};

export function createProcess(outside: World): Process {
  let state: 'up' | 'paused' | 'dead' = 'up';
  let gate = Promise.withResolvers<void>();
  const died = Promise.withResolvers<void>();
  gate.resolve();

  const pause = (): void => {
    if (state !== 'up') return;
    state = 'paused';
    gate = Promise.withResolvers<void>();
  };
  const resume = (): void => {
    if (state !== 'paused') return;
    state = 'up';
    gate.resolve();
  };
  const alive = async (): Promise<void> => {
    while (state === 'paused') await gate.promise;
    if (state === 'dead') await new Promise<never>(() => {});
  };
  const kill = (): void => {
    state = 'dead';
    gate.resolve();
    died.resolve();
  };
  const reach = <T extends object>(target: T, fate: (method: string) => Fate): T =>
    new Proxy(target, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name);
        if (typeof value !== 'function' || typeof name !== 'string') return value;
        return async (...args: unknown[]): Promise<unknown> => {
          await alive();
          const lot = fate(name);
          if (lot === 'dies_before') kill();
          if (lot === 'halts_before') pause();
          await alive();
          if (lot === 'fails_before') throw new Error('refused');
          const answer: unknown = await value.apply(object, args);
          if (lot === 'dies_after') kill();
          if (lot === 'halts_after') pause();
          await alive();
          if (lot === 'fails_after') throw new Error('reset');
          return answer;
        };
      },
    });
  const after: World['after'] = (delayMs, work) =>
    outside.after(delayMs, () => {
      if (state === 'up') work();
      else void alive().then(work);
    });
  return {
    world: { ...outside, after },
    state: () => state,
    pause,
    resume,
    kill,
    died: died.promise,
    alive,
    reach,
  };
}
