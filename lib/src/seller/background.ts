/**
 * What a seller looks after while nobody asks (design section 3): payments whose money is unknown, and settlements that
 * are not final. One pass at a time, at uneven intervals so that a fleet does not march in step. Decisions:
 * docs/decisions/0007-reconciling.md.
 */
import type { ClaimRecord } from '../claim/index.ts';
import { type Recheck, type ReconcileSummary, type Resolution, reconcile } from '../settlement/index.ts';
import { alarmOf, moneyEvent } from './event.ts';
import { within } from './limit.ts';
import { lookUpPatiently } from './lookup.ts';
import type { Shop } from './shop.ts';
import { resendUnasked } from './unasked.ts';

export type ReconcileSettings = {
  /** From the end of one pass to the next one; default 30 s. */
  readonly everyMs?: number;
  /** By which part the interval varies either way, from 0 to 1; default 0.25. */
  readonly jitter?: number;
  /** Payments in doubt that one pass looks up, and again so many settlements; default 200. */
  readonly limit?: number;
  /**
   * Whether a payment that is in doubt, unused and alive is sent again without its buyer: `never`, which is the default,
   * or `upfront` for routes that move the money first. The octets are the same, and the number of sends is bounded.
   */
  readonly resend?: 'never' | 'upfront';
};

export type Background = {
  readonly start: () => void;
  /** Resolves once no pass runs any more, or has been given up. */
  readonly stop: () => Promise<void>;
};

/** Some twenty passes within the life of an authorization. */
const defaultEveryMs = 30_000;
/** More often, and a chain's endpoint is asked more for doubts than for sales. */
const leastEveryMs = 1_000;
/** Rarely, and retention forgets settlements before they are seen at a final block. */
const mostEveryMs = 3_600_000;
/** At four questions a look-up, 200 of each kind every 30 s are some 50 questions a second at the worst. */
const defaultLimit = 200;
const mostLimit = 10_000;
/** A doubt that the last look left is looked at again after about its own age, within these. */
const soonestAgainMs = 15_000;
const latestAgainMs = 600_000;
/** A store is closed after this even while a chain keeps a pass waiting. */
const stopLimitMs = 5_000;

const names: ReadonlySet<string> = new Set(['everyMs', 'jitter', 'limit', 'resend']);

/** Completes and checks the settings; a mistake is a TypeError. */
export function checkReconcile(settings: ReconcileSettings): Required<ReconcileSettings> {
  for (const name of Object.keys(settings)) {
    if (!names.has(name)) throw new TypeError(`reconcile has no option "${name}".`);
  }
  const { everyMs = defaultEveryMs, jitter = 0.25, limit = defaultLimit, resend = 'never' } = settings;
  if (!Number.isSafeInteger(everyMs) || everyMs < leastEveryMs || everyMs > mostEveryMs) {
    throw new TypeError(`reconcile.everyMs must be from ${leastEveryMs} to ${mostEveryMs}.`);
  }
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1)) {
    throw new TypeError('reconcile.jitter must be from 0 to 1.');
  }
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > mostLimit) {
    throw new TypeError(`reconcile.limit must be from 1 to ${mostLimit}.`);
  }
  if (resend !== 'never' && resend !== 'upfront') {
    throw new TypeError(`reconcile.resend is "never" or "upfront", not "${String(resend)}".`);
  }
  return { everyMs, jitter, limit, resend };
}

/** Looks after a shop until it is stopped; nothing here keeps a process alive or rejects. */
export function createBackground(shop: Shop, settings: Required<ReconcileSettings>): Background {
  const { world } = shop;
  const stopped = new AbortController();
  const looks = createLooks(shop);
  let running: Promise<void> | undefined;

  const arm = (delayMs: number): void => {
    const timer = world.after(delayMs, () => {
      stopped.signal.removeEventListener('abort', timer.cancel);
      running = runPass(shop, settings, { signal: stopped.signal, looks }).then(() => {
        if (!stopped.signal.aborted) arm(unevenly(settings, share(shop)));
      });
    });
    stopped.signal.addEventListener('abort', timer.cancel, { once: true });
  };
  return {
    start: () => {
      if (running !== undefined || stopped.signal.aborted) return;
      running = Promise.resolve();
      // A fleet that was started at once spreads its first passes over one interval.
      arm(Math.floor(settings.everyMs * share(shop)));
    },
    stop: async () => {
      stopped.abort();
      await within(world, stopLimitMs, running ?? Promise.resolve());
    },
  };
}

/** From 0 to below 1. */
function share({ world }: Pick<Shop, 'world'>): number {
  const [high = 0, low = 0] = world.random(2);
  return (high * 256 + low) / 65_536;
}

function unevenly({ everyMs, jitter }: Required<ReconcileSettings>, at: number): number {
  return Math.floor(everyMs * (1 - jitter + 2 * jitter * at));
}

/** When this process last looked at doubts that remained: a limit must not keep it at the same ones for ever. */
type Looks = {
  readonly isEarly: (record: ClaimRecord) => boolean;
  readonly note: (resolution: Resolution) => void;
};

/** Beyond this many doubts the oldest notes go, and their payments are looked at early. */
const mostLooks = 10_000;

function createLooks({ world }: Pick<Shop, 'world'>): Looks {
  const next = new Map<string, number>();
  return {
    isEarly: ({ key }) => {
      const atMs = next.get(key);
      return atMs !== undefined && world.monotonicMs() < atMs;
    },
    note: ({ record, nowMs }) => {
      next.delete(record.key);
      const { state } = record.money;
      if (state !== 'unknown' && state !== 'sending') return;
      const ageMs = nowMs - record.createdAtMs;
      const waitMs = Math.min(Math.max(ageMs, soonestAgainMs), latestAgainMs);
      next.set(record.key, world.monotonicMs() + waitMs);
      const [oldest] = next.keys();
      if (next.size > mostLooks && oldest !== undefined) next.delete(oldest);
    },
  };
}

async function runPass(
  shop: Shop,
  settings: Required<ReconcileSettings>,
  parts: { readonly signal: AbortSignal; readonly looks: Looks },
): Promise<void> {
  const { signal, looks } = parts;
  try {
    const summary = await reconcile(shop.store, shop.chains, {
      limit: settings.limit,
      signal,
      // A visit that is at work on it asks for itself.
      skip: (record) => shop.inFlight.has(record.key) || looks.isEarly(record),
      lookUp: (record) => lookUpPatiently(shop, record),
      onResolution: async (resolution) => {
        looks.note(resolution);
        if (settings.resend === 'upfront' && !signal.aborted) await resendUnasked(shop, resolution);
      },
      onRecheck: (recheck) => reportRecheck(shop, recheck),
    });
    report(shop, summary);
  } catch (fault) {
    const detail = fault instanceof Error ? fault.name : 'unknown';
    shop.observe({ event: 'alarm', alarm: 'internal_error', detail: `reconcile: ${detail}` });
  }
}

function report(shop: Shop, summary: ReconcileSummary): void {
  const { looked, rechecked, failed } = summary;
  if (failed > 0) {
    shop.observe({ event: 'alarm', alarm: 'store_unavailable', detail: `reconcile: ${failed} steps failed` });
  }
  if (looked + rechecked + failed > 0) shop.observe({ event: 'reconciled', summary });
}

function reportRecheck(shop: Shop, { before, record, changed, standing }: Recheck): void {
  const { key } = record;
  if (standing === 'missing') shop.observe({ event: 'alarm', alarm: 'settlement_missing', key });
  if (!changed) return;
  shop.observe(moneyEvent(key, record.money));
  const alarm = alarmOf(before, record);
  if (alarm !== undefined) shop.observe({ event: 'alarm', alarm, key });
}
