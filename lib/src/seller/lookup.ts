/** Chain look-ups on behalf of a waiting buyer: one a key at a time, and never longer than two seconds (design 9.1). */
import { type ClaimRecord, moneyNow } from '../claim/index.ts';
import {
  type AuthorizationQuestion,
  type ChainReader,
  type Resolution,
  resolveRecord,
  startBlockOf,
} from '../settlement/index.ts';
import { alarmOf, moneyEvent } from './event.ts';
import { within } from './limit.ts';
import type { Shop } from './shop.ts';

/** A buyer waits for this; the background has time of its own. */
const lookupLimitMs = 2_000;
/** A reader without time-outs of its own must not occupy a key for ever: a look-up asks a few dozen short questions. */
const longestLookupMs = 60_000;
/** Settled look-ups of older payments in one request; after that the buyer comes back. */
export const maxRounds = 3;

/** What the chain proves about a record now; `late` when it did not answer in time. */
export async function lookUp(shop: Shop, record: ClaimRecord): Promise<Resolution | 'late'> {
  return within(shop.world, lookupLimitMs, lookUpPatiently(shop, record));
}

/** The same for the background, which has the time; a visit that asks meanwhile shares the look-up. */
export async function lookUpPatiently(shop: Shop, record: ClaimRecord): Promise<Resolution | 'late'> {
  return shop.lookups.get(record.key) ?? start(shop, record);
}

/** Looks an older payment up that stands in the way; true where that changed what its record says. */
export async function clearsTheWay(shop: Shop, older: ClaimRecord): Promise<boolean> {
  const resolution = await lookUp(shop, older);
  return resolution !== 'late' && resolution.changed;
}

function start(shop: Shop, record: ClaimRecord): Promise<Resolution | 'late'> {
  const look = resolveRecord(shop.store, shop.chains, record);
  look.then(
    (resolution) => report(shop, record, resolution),
    () => {},
  );
  const running = within(shop.world, longestLookupMs, look).finally(() => shop.lookups.delete(record.key));
  shop.lookups.set(record.key, running);
  return running;
}

function report(shop: Shop, before: ClaimRecord, resolution: Resolution): void {
  if (!resolution.changed) return;
  shop.observe(moneyEvent(before.key, moneyNow(resolution.record, resolution.nowMs)));
  const alarm = alarmOf(before, resolution.record);
  if (alarm !== undefined) shop.observe({ event: 'alarm', alarm, key: before.key });
}

/**
 * The block to search from, noted before the first send; undefined where no chain is read or it does not answer in
 * time.
 */
export async function startBlock(
  shop: Shop,
  question: AuthorizationQuestion & { readonly network: string },
): Promise<number | undefined> {
  return ask(shop, question.network, (chain) => startBlockOf(chain, question));
}

/** True where code exists at the address; undefined where nobody can say. */
export async function hasCode(shop: Shop, network: string, address: string): Promise<boolean | undefined> {
  return ask(shop, network, (chain) => chain.hasCode(address));
}

/** Whatever a reader does, throw, fail or hang, the buyer waits its two seconds and no more. */
async function ask<T>(
  shop: Shop,
  network: string,
  question: (chain: ChainReader) => Promise<T | undefined>,
): Promise<T | undefined> {
  const chain = shop.chains(network);
  if (chain === undefined) return undefined;
  const asked = async (): Promise<T | undefined> => {
    try {
      return await question(chain);
    } catch {
      return undefined;
    }
  };
  const heard = await within(shop.world, lookupLimitMs, asked());
  return heard === 'late' ? undefined : heard;
}
