/**
 * A process around a seller, as an operating system sees it: it can stand still (SIGSTOP) and it can die (SIGKILL)
 * between any two things that it does, and its wall clock may be wrong. What has left it, a call on its way to a store
 * or a facilitator, goes on.
 */
import type { World } from '../lib/src/world.ts';
import type { Clock } from './clock.ts';

/**
 * What happens at one call: as asked; or an error, a halt, death or a long wait, before it takes effect or after. After
 * `late_after` the caller has long given up: the answer is lost, the effect is not.
 */
export type Fate =
  | 'ok'
  | 'fails_before'
  | 'fails_after'
  | 'halts_before'
  | 'halts_after'
  | 'dies_before'
  | 'dies_after'
  | 'late_before'
  | 'late_after';

/** What decides about each call of a process. */
export type Route = {
  readonly fate: (method: string) => Fate;
  /** Virtual milliseconds that a call, or its answer, is on its way. */
  readonly travelMs: () => number;
};

export type Process = {
  readonly name: string;
  readonly world: World;
  readonly state: () => 'up' | 'paused' | 'dead';
  readonly pause: () => void;
  readonly resume: () => void;
  readonly kill: () => void;
  /** Sets the wall clock off by so much; durations are measured by another clock, which is right. */
  readonly shift: (offsetMs: number) => void;
  /** Resolves when the process dies: its connections are reset. */
  readonly died: Promise<void>;
  /** Waits while the process stands still, and for ever once it is dead. */
  readonly alive: () => Promise<void>;
  /** The same object as the process reaches it. */
  readonly reach: <T extends object>(target: T, route: Route) => T;
};

/** Longer than the seller waits for a store, and than a lease. */
const lateMs = 40_000;

type Caller = (work: () => unknown, method: string, route: Route) => Promise<unknown>;

/** One call out of a process, with whatever happens to it on the way. */
function createCaller(
  { pause, kill, alive }: Pick<Process, 'pause' | 'kill' | 'alive'>,
  clock: Pick<Clock, 'sleep'>,
): Caller {
  const travel = async (ms: number): Promise<void> => {
    if (ms > 0) await clock.sleep(ms);
  };
  const happen = (lot: Fate, when: 'before' | 'after'): void => {
    if (lot === `dies_${when}`) kill();
    if (lot === `halts_${when}`) pause();
  };
  return async (work, method, route) => {
    await alive();
    const lot = route.fate(method);
    happen(lot, 'before');
    await alive();
    if (lot === 'fails_before') throw new Error('refused');
    await travel(lot === 'late_before' ? lateMs : route.travelMs());
    const answer: unknown = await work();
    await travel(lot === 'late_after' ? lateMs : route.travelMs());
    happen(lot, 'after');
    await alive();
    if (lot === 'fails_after') throw new Error('reset');
    return answer;
  };
}

/** A process that is up; nothing it is handed knows whether it stands still. */
export function createProcess(name: string, outside: World, clock: Clock): Process {
  let state: 'up' | 'paused' | 'dead' = 'up';
  let offsetMs = 0;
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
  const call = createCaller({ pause, kill, alive }, clock);
  const reach = <T extends object>(target: T, route: Route): T =>
    new Proxy(target, {
      get: (object, member) => {
        const value: unknown = Reflect.get(object, member);
        if (typeof value !== 'function' || typeof member !== 'string') return value;
        return (...args: unknown[]) => call(() => value.apply(object, args), member, route);
      },
    });
  const after: World['after'] = (delayMs, work) =>
    outside.after(delayMs, () => {
      if (state === 'up') work();
      else void alive().then(work);
    });
  return {
    name,
    world: { ...outside, nowMs: () => outside.nowMs() + offsetMs, after },
    state: () => state,
    pause,
    resume,
    kill,
    shift: (next) => {
      offsetMs = next;
    },
    died: died.promise,
    alive,
    reach,
  };
}
