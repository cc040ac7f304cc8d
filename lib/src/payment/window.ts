/**
 * When an authorization may be used (design 4 and 9.17). In the authorization flow the money moves after the work,
 * so what would expire meanwhile is refused before it; upfront, the chain judges before any work and only the
 * clocks' disagreement counts. Comparisons are in milliseconds; the chain itself wants
 * validAfter < block time < validBefore.
 */
import type { Refusal } from '../problem.ts';
import type { Flow } from '../terms/requirements.ts';
import type { ExactEvmPayment } from './exact.ts';

/** How the time between a payment's arrival and its expiry is spent, milliseconds. */
export type Budget = {
  /** By how much two honest clocks may differ. */
  readonly skewMs: number;
  /** The longest that the route's work takes. */
  readonly workMs: number;
  /** The longest that a settlement takes. */
  readonly settleMs: number;
  /** What is left to the buyer between the 402 and the payment. */
  readonly slackMs: number;
};

/** The defaults of design 9.17: 30 s, 60 s, 30 s and 60 s. */
export const defaultBudget: Budget = Object.freeze({
  skewMs: 30_000,
  workMs: 60_000,
  settleMs: 30_000,
  slackMs: 60_000,
});

/**
 * For how long after its expiry a payment without a record can still be called unused, 24 hours; it must not be
 * longer than the store keeps records.
 */
export const defaultRetentionMs = 86_400_000;

/** The rule of a route at one moment. */
export type WindowRule = {
  readonly flow: Flow;
  readonly nowMs: number;
  /** Of the requirement that is paid. */
  readonly maxTimeoutSeconds: number;
  readonly budget: Budget;
  readonly retentionMs: number;
};

/** No date of this millennium has more digits in seconds; one with more was written in milliseconds (T06). */
const firstMillisecondLike = 100_000_000_000n;

/** Start-up rule: an authorization made at once must live through its own work; a route that cannot is a TypeError. */
export function checkBudget(route: {
  readonly flow: Flow;
  readonly maxTimeoutSeconds: number;
  readonly budget: Budget;
}): void {
  const { flow, maxTimeoutSeconds, budget } = route;
  for (const [name, value] of Object.entries({ ...defaultBudget, ...budget })) {
    if (!Object.hasOwn(defaultBudget, name)) throw new TypeError(`A budget has no member "${name}".`);
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new TypeError(`${name} must be a whole number of milliseconds.`);
    }
  }
  const neededMs = lifeNeededMs(flow, budget) + budget.slackMs;
  if (maxTimeoutSeconds * 1000 >= neededMs) return;
  throw new TypeError(
    `maxTimeoutSeconds is ${maxTimeoutSeconds}, but skew, work, settlement and slack need ${Math.ceil(neededMs / 1000)}.`,
  );
}

/** Judges validAfter and validBefore of a payment that has no record; gives the refusal, or undefined if usable. */
export function checkWindow(
  payment: Pick<ExactEvmPayment, 'validAfter' | 'validBefore'>,
  rule: WindowRule,
): Refusal | undefined {
  const { flow, budget, maxTimeoutSeconds } = rule;
  const now = BigInt(Math.floor(rule.nowMs));
  const skew = BigInt(budget.skewMs);
  const validAfter = payment.validAfter * 1000n;
  const validBefore = payment.validBefore * 1000n;
  const alive = liveUntil(payment.validBefore);

  if (validBefore > now + BigInt(maxTimeoutSeconds) * 1000n + skew) {
    const detail = secondsHint(payment.validBefore) ?? `It may live ${maxTimeoutSeconds} seconds.`;
    return { code: 'authorization_window_too_long', detail, ...alive };
  }
  if (validAfter > now + (flow === 'upfront' ? skew : 0n)) {
    const hint = secondsHint(payment.validAfter);
    return { code: 'authorization_not_yet_valid', ...(hint === undefined ? {} : { detail: hint }), ...alive };
  }
  if (validBefore <= now - (flow === 'upfront' ? skew : 0n)) {
    // Beyond retention a record may have been dropped, so nothing is known of this payment's money.
    const forgotten = validBefore + BigInt(rule.retentionMs) < now;
    return { code: 'authorization_expired', ...(forgotten ? { money: 'unknown', retry: 'later' } : {}) };
  }
  const neededMs = lifeNeededMs(flow, budget);
  if (flow !== 'upfront' && validBefore < now + BigInt(neededMs)) {
    const detail = `At least ${Math.ceil(neededMs / 1000)} seconds of life are needed.`;
    return { code: 'authorization_window_too_short', detail, ...alive };
  }
  return undefined;
}

/** The last moment, Unix milliseconds, at which {@link checkWindow} finds the authorization long enough. */
export function lastUsableMs(
  payment: Pick<ExactEvmPayment, 'validBefore'>,
  rule: Pick<WindowRule, 'flow' | 'budget'>,
): number {
  const validBeforeMs = Number(payment.validBefore) * 1000;
  if (rule.flow === 'upfront') return validBeforeMs + rule.budget.skewMs - 1;
  return validBeforeMs - lifeNeededMs(rule.flow, rule.budget);
}

/** Upfront the settlement comes first, so the work needs no life of the authorization. */
function lifeNeededMs(flow: Flow, budget: Budget): number {
  return budget.skewMs + budget.settleMs + (flow === 'upfront' ? 0 : budget.workMs);
}

function secondsHint(time: bigint): string | undefined {
  return time >= firstMillisecondLike ? 'Times are Unix seconds, not milliseconds.' : undefined;
}

function liveUntil(validBefore: bigint): { readonly liveUntil?: number } {
  const seconds = Number(validBefore);
  return Number.isSafeInteger(seconds) ? { liveUntil: seconds } : {};
}
