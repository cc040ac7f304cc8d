/**
 * Warns when this machine's clock and a chain's, or the store's, are apart (T05): the window of an authorization is judged
 * by ours and by the store's, and enforced by the chain's. Durations are not concerned; they run on the monotonic clock.
 */
import type { ChainReader } from '../settlement/index.ts';
import { within } from './limit.ts';
import type { Shop } from './shop.ts';

/** The skew that windows tolerate (design 9.17); more than that is worth a warning. */
const toleranceMs = 30_000;
/** The longest pause between two blocks of the networks that payments are made on is some 12 s. */
const nextBlockMs = 15_000;
/** A start waits for a chain's answer no longer than a buyer does. */
const readLimitMs = 2_000;

type Watched = Pick<Shop, 'world' | 'accepts' | 'chains' | 'observe' | 'store'>;

/** Asked only for the time that comes with the answer; no payment has it. */
const noPayment = 'what time is it';

/**
 * Compares with the newest block of every chain that is sold on and can be read, once, and resolves after the first
 * look. A newest block in the future shows a clock that is slow. One in the past shows nothing by itself, since a chain
 * may be idle (design 9.12): only a block that was made while we watched tells the time.
 */
export async function watchClocks(shop: Watched): Promise<void> {
  const networks = new Set(shop.accepts.map(({ network }) => network));
  await Promise.all([watchStore(shop), ...[...networks].map((network) => watchClock(shop, network))]);
}

/** Leases, retention and the last moment to take a payment go by the store's clock. */
async function watchStore(shop: Watched): Promise<void> {
  try {
    const { nowMs } = await shop.store.find(noPayment);
    const aheadMs = nowMs - shop.world.nowMs();
    if (Math.abs(aheadMs) > toleranceMs) alarm(shop, `the store ${shop.store.name}`, aheadMs);
  } catch {
    shop.observe({ event: 'alarm', alarm: 'store_unavailable', detail: 'at the start' });
  }
}

async function watchClock(shop: Watched, network: string): Promise<void> {
  const chain = shop.chains(network);
  if (chain === undefined) return;
  const first = await headOf(shop, chain);
  if (first === undefined) return;
  const seenAtMs = shop.world.nowMs();
  if (first.timeMs > seenAtMs + toleranceMs) return alarm(shop, network, first.timeMs - seenAtMs);
  if (first.timeMs >= seenAtMs - toleranceMs) return;
  shop.world.after(nextBlockMs, () => void lookAgain(shop, network, { block: first.block, seenAtMs }));
}

async function lookAgain(
  shop: Watched,
  network: string,
  first: { readonly block: number; readonly seenAtMs: number },
): Promise<void> {
  const chain = shop.chains(network);
  const next = chain === undefined ? undefined : await headOf(shop, chain);
  if (next === undefined || next.block <= first.block) return;
  // It was made after the first look, so its time is later than the true time of that look.
  if (next.timeMs < first.seenAtMs - toleranceMs) alarm(shop, network, next.timeMs - first.seenAtMs);
}

async function headOf(
  shop: Watched,
  chain: ChainReader,
): Promise<{ readonly block: number; readonly timeMs: number } | undefined> {
  const head = await within(
    shop.world,
    readLimitMs,
    chain.head().catch(() => undefined),
  );
  return head === 'late' ? undefined : head;
}

function alarm(shop: Watched, whose: string, aheadMs: number): void {
  const seconds = Math.abs(Math.round(aheadMs / 1000));
  const detail = `${whose} is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this clock`;
  shop.observe({ event: 'alarm', alarm: 'clock_skew', detail });
}
