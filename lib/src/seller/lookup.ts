/** Chain look-ups on behalf of a waiting buyer: one a key at a time, and never longer than two seconds (design 9.1). */
import { type ClaimRecord, moneyNow } from '../claim/index.ts';
import { type Resolution, resolveRecord } from '../settlement/index.ts';
import { alarmOf } from './event.ts';
import { within } from './limit.ts';
import type { Shop } from './shop.ts';

/** A buyer waits for this; the background has time of its own. */
const lookupLimitMs = 2_000;

/** What the chain proves about a record now; `late` when it did not answer in time. */
export async function lookUp(shop: Shop, record: ClaimRecord): Promise<Resolution | 'late'> {
  return within(shop.world, lookupLimitMs, shop.lookups.get(record.key) ?? start(shop, record));
}

function start(shop: Shop, record: ClaimRecord): Promise<Resolution> {
  const running = resolveRecord(shop.store, shop.chains, record).finally(() =>
    shop.lookups.delete(record.key),
  );
  shop.lookups.set(record.key, running);
  running.then(
    (resolution) => {
      if (!resolution.changed) return;
      shop.observe({
        event: 'money',
        key: record.key,
        state: moneyNow(resolution.record, resolution.nowMs).state,
      });
      const alarm = alarmOf(record, resolution.record);
      if (alarm !== undefined) shop.observe({ event: 'alarm', alarm, key: record.key });
    },
    () => {},
  );
  return running;
}

/** The block to search from, or undefined where no chain is read or it does not answer in time. */
export async function startBlock(shop: Shop, network: string): Promise<number | undefined> {
  const chain = shop.chains(network);
  if (chain === undefined) return undefined;
  const block = await within(
    shop.world,
    lookupLimitMs,
    chain.blockNumber().catch(() => undefined),
  );
  return block === 'late' ? undefined : block;
}
