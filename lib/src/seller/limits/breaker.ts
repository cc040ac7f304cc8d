/**
 * While a facilitator fails, work that is done for a payment is work that may never be paid (S14). A breaker counts
 * what its calls come to; above a rate of failures no new payment starts any work, until a trial payment settles.
 * Nothing here has a timer: states change when they are asked for.
 */
import type { Refusal } from '../../problem.ts';
import { checkCount, checkNames } from './option.ts';

export type BreakerOptions =
  | 'off'
  | {
      /** Opens where more than this share of the calls failed; default 0.5. */
      readonly failureRate?: number;
      /** Calls that say nothing yet below this number; default 10. */
      readonly minimum?: number;
      /** How far back calls are counted; default 30,000. */
      readonly windowMs?: number;
      /** How long it stays open at first, twice as long after each failed trial; default 10,000. */
      readonly coolDownMs?: number;
      /** The longest that it stays open; default 60,000. */
      readonly maxCoolDownMs?: number;
    };

export type BreakerState = 'closed' | 'open' | 'half_open';

/** Names the state in which a call began: what is heard of it after the next change says nothing of the present. */
export type Era = number;

export type Breaker = {
  /** Asks for a payment that was never sent; whoever is admitted must `leave` with the same pass. */
  readonly admit: () => Pass;
  readonly leave: (pass: Pass) => void;
  readonly era: () => Era;
  /** What a call that began in an era came to. */
  readonly heard: (era: Era, well: boolean) => void;
};

/** `trial` is the one payment that finds out whether the facilitator is back. */
export type Pass = 'free' | 'trial' | Refusal;

/** The window moves on by a tenth of itself, so that a count is a few numbers and no list of calls. */
const slots = 10;
const longestMs = 3_600_000;
const mostCalls = 1_000_000;
/** Seconds; at least so long, since a cool-down that is nearly over is followed by a trial. */
const leastRetryAfter = 1;

type Slot = { at: number; well: number; failed: number };
type Settings = Required<Exclude<BreakerOptions, 'off'>>;

/** Makes a breaker; `report` hears every change of its state. */
export function createBreaker(
  option: BreakerOptions = {},
  world: { readonly monotonicMs: () => number; readonly report: (state: BreakerState) => void },
): Breaker {
  if (option === 'off') return { admit: () => 'free', leave: () => {}, era: () => 0, heard: () => {} };
  const settings = completed(option);
  const counts = createCounts(settings.windowMs, world.monotonicMs);
  let state: BreakerState = 'closed';
  let era: Era = 0;
  let trial = false;
  let openUntilMs = 0;
  let coolDownMs = settings.coolDownMs;

  const turn = (next: BreakerState): void => {
    state = next;
    era += 1;
    world.report(next);
  };
  const open = (): void => {
    openUntilMs = world.monotonicMs() + coolDownMs;
    coolDownMs = Math.min(settings.maxCoolDownMs, coolDownMs * 2);
    turn('open');
  };
  const close = (): void => {
    coolDownMs = settings.coolDownMs;
    counts.clear();
    turn('closed');
  };
  return {
    era: () => era,
    admit: () => {
      if (state === 'closed') return 'free';
      const leftMs = openUntilMs - world.monotonicMs();
      if (state === 'open' && leftMs > 0) return unavailable(leftMs);
      if (state === 'open') turn('half_open');
      if (trial) return unavailable(0);
      trial = true;
      return 'trial';
    },
    leave: (pass) => {
      if (pass === 'trial') trial = false;
    },
    heard: (begun, well) => {
      if (begun !== era || state === 'open') return;
      if (state === 'half_open') return well ? close() : open();
      if (well) return counts.add(true);
      counts.add(false);
      if (counts.tooMany(settings)) open();
    },
  };
}

function completed(option: Exclude<BreakerOptions, 'off'>): Settings {
  checkNames('breaker', option, ['failureRate', 'minimum', 'windowMs', 'coolDownMs', 'maxCoolDownMs']);
  const { failureRate = 0.5, minimum = 10, windowMs = 30_000, coolDownMs = 10_000 } = option;
  const { maxCoolDownMs = Math.max(60_000, coolDownMs) } = option;
  if (typeof failureRate !== 'number' || !(failureRate > 0 && failureRate < 1)) {
    throw new TypeError('breaker.failureRate must be a number between 0 and 1.');
  }
  checkCount('breaker.minimum', minimum, mostCalls);
  for (const [name, value] of Object.entries({ windowMs, coolDownMs, maxCoolDownMs })) {
    checkCount(`breaker.${name}`, value, longestMs);
  }
  if (maxCoolDownMs < coolDownMs) throw new TypeError('breaker.maxCoolDownMs is at least coolDownMs.');
  return { failureRate, minimum, windowMs, coolDownMs, maxCoolDownMs };
}

function unavailable(leftMs: number): Refusal {
  const retryAfter = Math.max(leastRetryAfter, Math.ceil(leftMs / 1000));
  return { code: 'facilitator_unavailable', retryAfter };
}

type Counts = {
  readonly add: (well: boolean) => void;
  readonly tooMany: (settings: Settings) => boolean;
  readonly clear: () => void;
};

/** Calls of the last `windowMs`, in slots that are used again once they are older than that. */
function createCounts(windowMs: number, monotonicMs: () => number): Counts {
  const ring: Slot[] = Array.from({ length: slots }, () => ({ at: -slots, well: 0, failed: 0 }));
  const slotNow = (): number => Math.floor((monotonicMs() * slots) / windowMs);
  return {
    add: (well) => {
      const at = slotNow();
      const slot = ring[at % slots];
      if (slot === undefined) return;
      if (slot.at !== at) Object.assign(slot, { at, well: 0, failed: 0 });
      if (well) slot.well += 1;
      else slot.failed += 1;
    },
    tooMany: ({ minimum, failureRate }) => {
      const oldest = slotNow() - slots;
      const recent = ring.filter(({ at }) => at > oldest);
      const failed = recent.reduce((sum, slot) => sum + slot.failed, 0);
      const calls = recent.reduce((sum, slot) => sum + slot.well, failed);
      return calls >= minimum && failed > calls * failureRate;
    },
    clear: () => {
      for (const slot of ring) Object.assign(slot, { at: -slots, well: 0, failed: 0 });
    },
  };
}
