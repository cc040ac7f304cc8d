/**
 * Sends a payment again that nobody presents, where the seller has chosen so: only a payment of a flow that moves the
 * money first, only while the chain shows it unused and alive, only the identical octets, and a bounded number of
 * times. Design 9.4 leaves the other flow to the buyer; see docs/decisions/0007-reconciling.md.
 */
import { type ClaimRecord, moneyNow } from '../claim/index.ts';
import { defaultBudget } from '../payment/index.ts';
import type { Resolution } from '../settlement/index.ts';
import { startBlock } from './lookup.ts';
import { begin } from './patience.ts';
import { maxSends, storedPayload } from './resend.ts';
import { questionOf, settle } from './settle.ts';
import type { Shop } from './shop.ts';

/** Sends what a look-up found unused, if it may; the work is then owed, and runs when the payment is presented. */
export async function resendUnasked(shop: Shop, resolution: Resolution): Promise<void> {
  const { record, nowMs, fate } = resolution;
  if (fate.kind !== 'unused' || !mayResend(record, nowMs)) return;
  const payment = await storedPayload(shop, record.key);
  if (payment === undefined) return;
  const { settleMs } = defaultBudget;
  const block = await startBlock(shop, record);
  const send = {
    owner: shop.nextOwner(),
    leaseMs: Math.max(shop.lease.leaseMs, settleMs + shop.lease.marginMs),
    maxSends,
    earlierPayment: 'off' as const,
    ...(block === undefined ? {} : { startBlock: block }),
  };
  const begun = await begin(shop, { key: record.key, owner: send.owner }, () =>
    shop.store.beginSend(record.key, send),
  );
  if (begun.kind !== 'begun') return;
  await settle(shop, begun.hold, {
    record: begun.record,
    question: questionOf(payment, begun.record, settleMs),
  });
  // Nobody waits for this owner: whoever presents the payment may take its work at once.
  await shop.store.deliver(record.key, { kind: 'abandoned' });
}

function mayResend(record: ClaimRecord, nowMs: number): boolean {
  if (record.flow !== 'upfront' || record.closed !== undefined) return false;
  if (moneyNow(record, nowMs).state !== 'unknown' || record.sends >= maxSends) return false;
  // Only what was sent and is in doubt since: a begun send that nobody spoke of again may never have left, and its buyer
  // may have been told so (seed 5637 of the simulator).
  if (!record.sendLog.some(({ said }) => said === 'unknown')) return false;
  return record.validBeforeMs > nowMs + defaultBudget.skewMs + defaultBudget.settleMs;
}
