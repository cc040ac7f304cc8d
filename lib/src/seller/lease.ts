/**
 * Keeps a lease alive while work runs or money is under way, and says when it can no longer be relied on: the
 * signal fires when no heartbeat has been confirmed by lease - margin, counted on the monotonic clock from the
 * moment the confirmed one was asked for (design section 3).
 */
import type { ClaimStore, Hold } from '../claim/index.ts';
import type { Timer, World } from '../world.ts';

export type LeaseSettings = {
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly marginMs: number;
  readonly graceMs: number;
};

/** Design 9.17. */
export const defaultLease: LeaseSettings = Object.freeze({
  leaseMs: 30_000,
  heartbeatMs: 10_000,
  marginMs: 5_000,
  graceMs: 5_000,
});

export type LeaseKeeper = {
  /** Fires once; after it nothing that the owner does counts. */
  readonly signal: AbortSignal;
  /** By the clock, for a process that was paused and whose timers have not run yet. */
  readonly alive: () => boolean;
  readonly stop: () => void;
};

/** Settings that contradict themselves are a TypeError. */
export function checkLease(lease: LeaseSettings): LeaseSettings {
  for (const [name, value] of Object.entries(lease)) {
    if (!Object.hasOwn(defaultLease, name)) throw new TypeError(`A lease has no member "${name}".`);
    if (!Number.isSafeInteger(value) || value < 1)
      throw new TypeError(`lease.${name} must be a whole number of milliseconds.`);
  }
  if (lease.heartbeatMs + lease.marginMs >= lease.leaseMs) {
    throw new TypeError('lease: heartbeatMs + marginMs must be less than leaseMs.');
  }
  return lease;
}

/**
 * Starts beating for a hold. `askedAtMs` is the monotonic moment before the store was asked for it: a process that
 * freezes between the store's answer and this call must not count its lease from here (I1).
 */
export function keepLease(
  shop: {
    readonly world: World;
    readonly store: Pick<ClaimStore, 'heartbeat'>;
    readonly lease: LeaseSettings;
  },
  hold: Hold,
  askedAtMs: number,
): LeaseKeeper {
  const { world, store, lease } = shop;
  const controller = new AbortController();
  let confirmedAtMs = askedAtMs;
  let next: Timer | undefined;
  let limit: Timer | undefined;
  let stopped = false;

  const stop = (): void => {
    stopped = true;
    next?.cancel();
    limit?.cancel();
  };
  const lose = (): void => {
    if (stopped) return;
    stop();
    controller.abort(new Error('The claim on this payment may have passed to another process.'));
  };
  const arm = (): void => {
    limit?.cancel();
    const leftMs = confirmedAtMs + lease.leaseMs - lease.marginMs - world.monotonicMs();
    limit = world.after(Math.max(0, leftMs), lose);
  };
  const beat = async (): Promise<void> => {
    const askedAtMs = world.monotonicMs();
    try {
      const outcome = await store.heartbeat(hold, lease.leaseMs);
      if (stopped) return;
      if (outcome.kind === 'lost') return lose();
      confirmedAtMs = askedAtMs;
      arm();
    } catch {
      // A store that fails to answer is asked again; the limit decides when that is too late.
    }
    if (!stopped) next = world.after(lease.heartbeatMs, () => void beat());
  };

  arm();
  next = world.after(lease.heartbeatMs, () => void beat());
  const alive = (): boolean =>
    !controller.signal.aborted && world.monotonicMs() < confirmedAtMs + lease.leaseMs - lease.marginMs;
  return { signal: controller.signal, alive, stop };
}
