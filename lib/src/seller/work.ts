/** Runs the paid work once, bounded by its lease, its time and its answer's size. It never throws. */
import type { ClaimRecord } from '../claim/index.ts';
import type { SettlementResponse } from '../wire/v2.ts';
import { paidAnswer } from './answer.ts';
import { fieldSize, shortenFields } from './budget.ts';
import type { LeaseKeeper } from './lease.ts';
import type { Answer } from './message.ts';
import type { Call } from './visit.ts';

export type WorkResult =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** A status of 400 or more: the handler's own words, not paid for. */
  | { readonly kind: 'failed'; readonly answer: Answer }
  /** It threw, was aborted, or answered with what is no final status; `fault` is for the seller's own eyes. */
  | { readonly kind: 'threw'; readonly fault?: unknown }
  | { readonly kind: 'redirect' }
  /** More than the route may keep, or than proxies let through as header fields. */
  | { readonly kind: 'too_large'; readonly what: 'body' | 'headers' };

/** Made once, since its stack says nothing and costs more than the rest of the signal. */
const workOver = new Error('The work is over.');

/** Octets of a URL for which the budget has room, and of one beyond which no budget would help. */
const urlWithRoom = 96;
const longestCachedUrl = 1_024;

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
  // Handed on by hand: a composite signal costs more than everything else here.
  const lose = (): void => limit.abort(lease.signal.reason);
  if (lease.signal.aborted) lose();
  else lease.signal.addEventListener('abort', lose, { once: true });
  const { signal } = limit;
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
    return judge(call, record, await Promise.race([work, aborted(signal)]));
  } catch (fault) {
    return { kind: 'threw', fault };
  } finally {
    timer.cancel();
    lease.signal.removeEventListener('abort', lose);
    limit.abort(workOver);
  }
}

function judge<Parsed>(call: Call<Parsed>, record: ClaimRecord, answer: Answer): WorkResult {
  if (answer.body.length > call.route.maxAnswerBytes) return { kind: 'too_large', what: 'body' };
  if (answer.status < 200) return { kind: 'threw' };
  if (answer.status >= 400) return { kind: 'failed', answer };
  if (answer.status >= 300 && call.route.redirects === 'refuse') return { kind: 'redirect' };
  return fit(call, record, answer);
}

/**
 * A default nginx turns an answer with too many octets of fields into a 502, after the payment (H09). Before anything
 * is charged such an answer is refused; once the money has moved, the handler's largest fields are left out instead.
 */
function fit<Parsed>(
  call: Pick<Call<Parsed>, 'shop' | 'route' | 'request'>,
  record: ClaimRecord,
  answer: Answer,
): WorkResult {
  const { shop, route, request } = call;
  const whole = paidAnswer(answer, { response: expectedResponse(record) });
  const room = route.maxHeaderBytes - cachedTarget(request.url);
  if (fieldSize(whole.headers) <= room) return { kind: 'answer', answer };
  if (record.money.state === 'none') return { kind: 'too_large', what: 'headers' };
  const { dropped, size } = shortenFields(whole.headers, room);
  shop.observe({ event: 'shortened', route: route.name, fields: dropped });
  if (size > room) {
    shop.observe({ event: 'alarm', alarm: 'headers_too_large', key: record.key, detail: route.name });
  }
  return {
    kind: 'answer',
    answer: { ...answer, headers: answer.headers.filter(([name]) => !dropped.includes(name)) },
  };
}

/** A caching nginx keeps its key, which is the URL, in the same buffer as the head; a longer one than this has its own limits. */
function cachedTarget(url: string): number {
  return Math.min(longestCachedUrl, Math.max(0, url.length - urlWithRoom));
}

/** As large as the PAYMENT-RESPONSE that this payment will get; its transaction is not known before it is sent. */
function expectedResponse(record: ClaimRecord): SettlementResponse {
  const { payer, network, amount } = record;
  return { success: true, payer, transaction: `0x${'0'.repeat(64)}`, network, amount };
}

/** Rejects when the signal fires: work that ignores its signal is not waited for. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
