/**
 * What is done about a store that did not answer around a send. Facts about money are monotone, so one whose writing
 * nobody confirmed is written again; and a send whose beginning nobody confirmed never began, which only its own sender
 * can say. Without either a payment would stay in doubt, and where no chain is read for good.
 */
import type { MoneyFact, RecordOutcome } from '../claim/index.ts';
import { within } from './limit.ts';
import type { Shop } from './shop.ts';

/** While a buyer waits: a store that comes back within seconds is waited for. */
const soonMs: readonly number[] = [250, 1_000, 3_000];
/** After that nobody waits, and a server takes minutes to fail over. */
const laterMs: readonly number[] = [5_000, 15_000, 30_000, 60_000, 120_000, 300_000];
/** Within the lease of the send, outside of which nobody may say that it never began. */
const undoMs: readonly number[] = [500, 1_500, 4_000, 9_000];
/** Facts of one process that wait for their store; more than this, and the chain is the better witness. */
const mostUntold = 1_000;

type Told = { readonly fact: MoneyFact; readonly untilMs: number };

/** Writes a fact about money, again and again; rejects when the buyer can wait no longer, and goes on in the background. */
export async function recordPatiently(shop: Shop, key: string, told: Told): Promise<RecordOutcome> {
  for (const pauseMs of soonMs) {
    try {
      return await shop.store.recordMoney(key, told.fact);
    } catch {
      if (shop.world.monotonicMs() + pauseMs >= told.untilMs) break;
      await pause(shop, pauseMs);
    }
  }
  try {
    return await shop.store.recordMoney(key, told.fact);
  } catch (fault) {
    void goOn(shop, key, told.fact);
    throw fault;
  }
}

async function goOn(shop: Shop, key: string, fact: MoneyFact): Promise<void> {
  // That nothing was sent is said under a lease, which is over by then.
  if (fact.fact === 'unsent' || shop.untold.count >= mostUntold) return;
  shop.untold.count += 1;
  try {
    await retry(shop, laterMs, async () => {
      await shop.store.recordMoney(key, fact);
    });
  } finally {
    shop.untold.count -= 1;
  }
}

/** Runs the step that begins a send; where nobody confirms it, no byte leaves, and that is written down. */
export async function begin<T>(
  shop: Shop,
  send: { readonly key: string; readonly owner: string },
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (fault) {
    void retry(shop, undoMs, () => undo(shop, send));
    throw fault;
  }
}

async function undo(
  shop: Shop,
  { key, owner }: { readonly key: string; readonly owner: string },
): Promise<void> {
  const { record } = await shop.store.find(key);
  if (record?.money.state !== 'sending' || record.lease?.owner !== owner) return;
  const hold = { key, owner, fence: record.lease.fence };
  await shop.store.recordMoney(key, { fact: 'unsent', n: record.money.n, hold });
}

/** Waits, tries, and waits longer; what fails to the end is given up in silence, since each failure was an alarm. */
async function retry(shop: Shop, pausesMs: readonly number[], attempt: () => Promise<void>): Promise<void> {
  for (const pauseMs of pausesMs) {
    await pause(shop, pauseMs);
    try {
      await attempt();
      return;
    } catch {
      // The next pause is longer.
    }
  }
}

/** Waits by the world's own timers. */
export async function pause(shop: Pick<Shop, 'world'>, delayMs: number): Promise<void> {
  await within(shop.world, delayMs, new Promise<never>(() => {}));
}
