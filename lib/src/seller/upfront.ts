/**
 * Flow `upfront`: settle, work, deliver. The money moves before any work; work that fails afterwards is owed, and
 * the same payment runs it again, a bounded number of times.
 */
import type { ClaimRecord, Hold } from '../claim/index.ts';
import {
  deliverPaid,
  failedPaid,
  inProgress,
  isHeld,
  type Owned,
  sealedAnswer,
  stillOwed,
  unsettled,
  type Won,
} from './flow.ts';
import { keepLease } from './lease.ts';
import type { Delivery } from './message.ts';
import { forwarded, questionOf, settle } from './settle.ts';
import type { Visit } from './visit.ts';
import { runWork } from './work.ts';

/** Settles a send that `take` has begun, then works. */
export async function payFirst<Parsed>(visit: Visit<Parsed>, won: Won): Promise<Delivery> {
  const { shop, route } = visit;
  const { hold, record, askedAtMs } = won;
  const lease = keepLease(shop, hold, askedAtMs);
  try {
    const payment = forwarded(visit.message, visit.payment.payload, record);
    const settled = await settle(shop, hold, {
      record,
      question: questionOf(payment, record, route.budget.settleMs),
    });
    if (settled.money.state !== 'settled') return await unsettled(visit, settled);
    lease.stop();
    return await workPaid(visit, hold, settled.record);
  } finally {
    lease.stop();
  }
}

/**
 * Starts the work of a payment that has settled. Where the settlement was in doubt meanwhile, the hold is gone and
 * the work is claimed anew, like any work that is owed.
 */
export async function workPaid<Parsed>(
  visit: Visit<Parsed>,
  hold: Hold,
  record: ClaimRecord,
): Promise<Delivery> {
  const { store, world, lease } = visit.shop;
  // The lease counts anew from here: one that ran thin while the money moved must not cost an attempt.
  const askedAtMs = world.monotonicMs();
  const started = await store.startWork(hold, lease.leaseMs);
  if (!isHeld(started)) return claimOwed(visit, record);
  return workOwed(visit, { hold, record: started.record, askedAtMs });
}

/** Claims the work of a settled payment, whoever settled it, and runs it; a copy that lost is told so. */
export async function claimOwed<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): Promise<Delivery> {
  const { shop, owner } = visit;
  const askedAtMs = shop.world.monotonicMs();
  const taken = await shop.store.take({
    purchase: record,
    owner,
    times: shop.lease,
    earlierPayment: 'off',
    mayReplaceRequest: false,
  });
  if (taken.kind === 'taken') return workOwed(visit, { ...taken, askedAtMs });
  const { work, closed } = taken.kind === 'known' ? taken.record : record;
  const over = taken.kind === 'known' && (work.state === 'exhausted' || closed !== undefined);
  return over ? stillOwed(visit, taken.record) : inProgress(visit);
}

/** Runs work that is paid; whoever gave the hold has counted the attempt already. */
export async function workOwed<Parsed>(visit: Visit<Parsed>, won: Won): Promise<Delivery> {
  const { hold, record, askedAtMs } = won;
  const lease = keepLease(visit.shop, hold, askedAtMs);
  try {
    return await run({ visit, hold, record, lease });
  } finally {
    lease.stop();
  }
}

async function run<Parsed>(owned: Owned<Parsed>): Promise<Delivery> {
  const { visit, hold, record, lease } = owned;
  const { shop } = visit;
  shop.observe({ event: 'taken', key: record.key, route: visit.route.name, attempt: record.attempts });
  const result = await runWork(visit, record, lease);
  if (result.kind !== 'answer') return failedPaid(owned, result);
  const finished = await shop.store.finish(hold, {
    answer: sealedAnswer(visit, record, result.answer),
    partial: false,
    leaseMs: shop.lease.leaseMs,
  });
  if (!isHeld(finished)) return inProgress(visit);
  return deliverPaid(visit, finished.record, result.answer);
}
