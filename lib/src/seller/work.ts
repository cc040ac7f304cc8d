/** Runs the paid work once, bounded by its lease, its time and its answer's size. It never throws. */
import type { ClaimRecord } from '../claim/index.ts';
import type { LeaseKeeper } from './lease.ts';
import type { Answer } from './message.ts';
import type { Call } from './visit.ts';

export type WorkResult =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** A status of 400 or more: the handler's own words, not paid for. */
  | { readonly kind: 'failed'; readonly answer: Answer }
  | { readonly kind: 'threw' }
  | { readonly kind: 'redirect' }
  | { readonly kind: 'too_large' };

/** Runs the route's work for the record's current attempt. */
export async function runWork<Parsed>(
  call: Call<Parsed>,
  record: ClaimRecord,
  lease: Pick<LeaseKeeper, 'signal' | 'alive'>,
): Promise<WorkResult> {
  const parsed = await call.parsed();
  if (!parsed.ok) return { kind: 'threw' };
  // A process that was paused since the claim may have been followed by another: it must not start now (I1).
  if (!lease.alive()) return { kind: 'threw' };
  const limit = new AbortController();
  const timer = call.shop.world.after(call.route.budget.workMs, () =>
    limit.abort(new Error('The work took too long.')),
  );
  const signal = AbortSignal.any([lease.signal, limit.signal]);
  try {
    const work = call.work({
      request: call.request,
      parsed: parsed.value,
      signal,
      idempotencyKey: `${record.key}#${record.attempts}`,
      attempt: record.attempts,
      payer: record.payer,
      network: record.network,
      asset: record.asset,
      amount: record.amount,
    });
    return judge(call, await Promise.race([work, aborted(signal)]));
  } catch {
    return { kind: 'threw' };
  } finally {
    timer.cancel();
    limit.abort();
  }
}

function judge<Parsed>(call: Call<Parsed>, answer: Answer): WorkResult {
  if (answer.body.length > call.route.maxAnswerBytes) return { kind: 'too_large' };
  if (answer.status < 200) return { kind: 'threw' };
  if (answer.status >= 400) return { kind: 'failed', answer };
  if (answer.status >= 300 && call.route.redirects === 'refuse') return { kind: 'redirect' };
  return { kind: 'answer', answer };
}

/** Rejects when the signal fires: work that ignores its signal is not waited for. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
