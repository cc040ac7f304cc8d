/**
 * On whose word a settlement is believed (attacks S07, F01): a facilitator's, or the chain's at a chosen depth. Where
 * the chain's is asked for, a facilitator's success is noted and moves nothing; the money stays `sending` while the
 * chain is asked, for as long as the route gives a settlement, and is unknown after that.
 */
import { type ClaimRecord, type Finality, moneyNow } from '../claim/index.ts';
import type { Budget } from '../payment/index.ts';
import { checkFinality } from '../settlement/index.ts';
import type { Acceptance } from '../terms/index.ts';
import { lookUp } from './lookup.ts';
import { pause } from './patience.ts';
import type { Shop } from './shop.ts';

/** `facilitator`: its word is enough. `chain`: the transfer itself must be seen, so deep. */
export type Assurance = 'facilitator' | { readonly chain: Finality };

/** A facilitator's answer and one block: with less time no payment would ever be seen in time. */
const leastSettleMs = 5_000;
/** Blocks of the fastest networks in the table of assets are this far apart. */
const blockMs = 1_000;
/** Twice within a block of the fastest networks at first; in the end as seldom as a look-up may take. */
const firstPauseMs = 250;
const longestPauseMs = 2_000;

/** How deep the chain must show a transfer; undefined where a facilitator's word is enough. Throws TypeError. */
export function finalityOf(assurance: Assurance): Finality | undefined {
  if (assurance === 'facilitator') return undefined;
  const [name, ...others] = typeof assurance === 'object' && assurance !== null ? Object.keys(assurance) : [];
  if (name !== 'chain' || others.length > 0) {
    throw new TypeError('assurance is "facilitator" or { chain: finality }.');
  }
  return checkFinality(assurance.chain);
}

/** Start-up rule: what must be seen on a chain needs a reader of it, and the time to see it. Throws TypeError. */
export function checkAssurance(
  shop: Pick<Shop, 'chains' | 'accepts'>,
  route: { readonly name: string; readonly budget: Budget; readonly assurance: Finality | undefined },
): void {
  const { name, budget, assurance } = route;
  if (assurance === undefined) return;
  const blind = shop.accepts.find((acceptance: Acceptance) => shop.chains(acceptance.network) === undefined);
  if (blind !== undefined) {
    throw new TypeError(`${name}: assurance asks the chain, and chains has no reader of ${blind.network}.`);
  }
  const needsMs = leastSettleMs + (typeof assurance === 'number' ? (assurance - 1) * blockMs : 0);
  if (budget.settleMs >= needsMs) return;
  throw new TypeError(
    `${name}: assurance ${assurance} waits for the chain within settleMs, which must be at least ${needsMs}.`,
  );
}

/** What a facilitator said of send `n`, and until when, by the monotonic clock, its buyer waits for the chain. */
export type Asserted = { readonly n: number; readonly transaction: string; readonly untilMs: number };

/**
 * Waits until the chain shows the transfer as deep as the record asks for, or proves that there can be none. What is
 * not seen in time is written down as unknown, with the transaction that was named.
 */
export async function awaitProof(
  shop: Shop,
  record: ClaimRecord,
  asserted: Asserted,
): Promise<{ readonly record: ClaimRecord; readonly nowMs: number }> {
  const { n, transaction, untilMs } = asserted;
  let unused = false;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const seen = await lookUp(shop, record);
    if (seen !== 'late') {
      unused = seen.fate.kind === 'unused';
      const { state } = moneyNow(seen.record, seen.nowMs);
      if (state !== 'sending' && state !== 'unknown') return seen;
    }
    const leftMs = untilMs - shop.world.monotonicMs();
    if (leftMs <= 0) break;
    await pause(shop, Math.min(pauseMs, leftMs));
  }
  if (unused) shop.observe({ event: 'alarm', alarm: 'success_without_transfer', key: record.key });
  const fact = { fact: 'unknown', n, reason: 'settlement_pending', transaction } as const;
  const told = await shop.store.recordMoney(record.key, fact);
  return { record: told.record ?? record, nowMs: told.nowMs };
}
