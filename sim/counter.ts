/** Where buyers and shops meet: a payment is presented, and the answer is held against what is so. */
import type { ClaimRecord } from '../lib/src/claim/index.ts';
import type { Delivery } from '../lib/src/seller/message.ts';
import { read, requestOf, type Seen } from '../lib/test/rig.ts';
import type { Bill } from './chain.ts';
import { invites, judgeAnswer, type Purchase, wordsOf } from './purchase.ts';
import { type Shop, workOf } from './shop.ts';
import type { Stage } from './stage.ts';

export type Meeting = { readonly purchase: Purchase; readonly shop: Shop; readonly target: string };

/** Presents one payment at one shop; undefined where the connection was reset. */
export async function present(stage: Stage, meeting: Meeting): Promise<Seen | undefined> {
  const { clock, trace, tally } = stage;
  const { purchase, shop, target } = meeting;
  const { bill } = purchase;
  tally.asked += 1;
  purchase.presented += 1;
  const visit = { number: tally.asked, presented: purchase.presented, free: purchase.inFlight === 0 };
  const name = `buyer     #${visit.number}`;
  trace.say(() => `${name} presents ${bill.name} for ${target} at ${shop.process.name} (${shop.flow})`);
  purchase.inFlight += 1;
  const startedMs = clock.nowMs();
  const before = recordOf(stage, bill)?.money.state;
  const request = requestOf({ target, payment: bill.payment });
  const answered = shop.seller.charge(shop.route, request, workOf(stage, shop));
  const delivery = await Promise.race([answered, shop.process.died]);
  purchase.inFlight -= 1;
  if (delivery === undefined) {
    trace.say(() => `${name} ${bill.name}: connection reset`);
    return undefined;
  }
  const seen = await read(unheard(delivery), 'unread');
  const alone = visit.free && visit.presented === purchase.presented;
  const words = wordsOf(seen);
  trace.say(() => `${name} ${bill.name}: ${seen.status} ${words.code || 'goods'} ${words.money}`);
  hear(stage, { purchase, seen, alone });
  judge(stage, { ...meeting, seen, startedMs, alone, before });
  await write(stage, { delivery, shop, seen });
  return seen;
}

function recordOf({ watched }: Stage, bill: Bill): ClaimRecord | undefined {
  return watched.records().find(({ nonce }) => nonce === bill.nonce);
}

function judge(
  stage: Stage,
  heard: Meeting & {
    readonly seen: Seen;
    readonly startedMs: number;
    readonly alone: boolean;
    readonly before: string | undefined;
  },
): void {
  const { chain, clock, scenario } = stage;
  const record = recordOf(stage, heard.purchase.bill);
  const after = record?.money.state;
  const faults = judgeAnswer({
    ...heard,
    nowMs: clock.nowMs(),
    money: [heard.before, after],
    sendable: after === 'none' && record?.work.state === 'done',
    billOf: (nonce) => chain.bills.get(nonce),
    assured: scenario.assurance !== 'said',
  });
  for (const words of faults) stage.fault(words);
}

/** The answer goes over the wire, whole or in part. */
async function write(
  stage: Stage,
  { delivery, shop, seen }: { readonly delivery: Delivery; readonly shop: Shop; readonly seen: Seen },
): Promise<void> {
  const how = stage.calm() || stage.luck.chance(0.7) ? 'complete' : 'cut';
  if (seen.status === 200 && how === 'complete') {
    const served = stage.purchases.get(seen.text.split(' ')[2] ?? '');
    if (served !== undefined) served.deliveredMs ??= stage.clock.nowMs();
  }
  await Promise.race([delivery.written(how), shop.process.died]);
}

/** What the buyer makes of an answer. */
function hear(
  stage: Stage,
  { purchase, seen, alone }: { readonly purchase: Purchase; readonly seen: Seen; readonly alone: boolean },
): void {
  const { tally, clock } = stage;
  const { code } = wordsOf(seen);
  const name = seen.status === 200 ? 'ok' : code || `status ${seen.status}`;
  tally.answers.set(name, (tally.answers.get(name) ?? 0) + 1);
  if (seen.status === 200) tally.served += 1;
  if (code === 'settlement_unknown') purchase.doubtedMs ??= clock.nowMs();
  if (!invites(seen)) return;
  purchase.invited = true;
  if (alone) purchase.buried = true;
}

/** The delivery, read before its writing is reported. */
export async function unheard(delivery: Delivery): Promise<Delivery> {
  return { ...delivery, written: async () => {} };
}
