/**
 * The payment for one resource on another at the same price: one that was used, and one that was not. The official
 * seller is asked the same, and is weak in the second.
 */
import { begunAt } from '../actor/tally.ts';
import { problemIn } from '../buyer/client.ts';
import { asKnown, beside, type Finding, inform, must, type Part } from '../part.ts';
import type { Stage } from '../stage.ts';

/** What was measured. */
export type Elsewhere = {
  readonly status: number;
  readonly code: string | undefined;
  readonly handlerRuns: number;
  /** With a payment for /weather that was not used yet, presented at /premium. */
  readonly unusedStatus: number;
  readonly unusedRuns: number;
};

export const elsewhere: Part = {
  name: 'usedElsewhere',
  title: 'Substitution: the payment for /weather, presented at /premium',
  promise: 'S2',
  claim: 'a payment buys what it was made for, used or not',
  play: async (stage) => {
    const ours = await measure(stage, 'ours');
    return finding(ours, await measure(stage, 'stock'));
  },
};

async function measure(stage: Stage, whose: 'ours' | 'stock'): Promise<Elsewhere> {
  const { client } = stage;
  const shop = whose === 'ours' ? stage.ours() : stage.stock;
  const buyer = stage.buyer(whose);
  const weather = `${shop.origin}/weather`;
  const premium = `${shop.origin}/premium`;
  const payment = await buyer.pay(weather);
  await client.get(weather, payment);
  const before = await shop.counts();
  const used = await client.get(premium, payment);
  const after = await shop.counts();
  const unused = await client.get(premium, await buyer.pay(weather));
  const last = await shop.counts();
  return {
    status: used.status,
    code: problemIn(used),
    handlerRuns: begunAt(after) - begunAt(before),
    unusedStatus: unused.status,
    unusedRuns: begunAt(last) - begunAt(after),
  };
}

/** The judgement. */
export function finding(ours: Elsewhere, stock: Elsewhere): Finding {
  const known = asKnown(stock.unusedStatus === 200);
  return {
    checks: [
      beside(must('used payment, answer', ours.status, 409), stock.status),
      beside(must('used payment, handler runs', ours.handlerRuns, 0), stock.handlerRuns),
      beside(inform('used payment, code', ours.code ?? '-'), stock.code ?? '-'),
      beside(must('unused payment, answer', ours.unusedStatus, 402), stock.unusedStatus),
      beside(must('unused payment, handler runs', ours.unusedRuns, 0), stock.unusedRuns),
    ],
    figures: { status: ours.status, handlerRuns: ours.handlerRuns, unusedStatus: ours.unusedStatus },
    official: { status: stock.unusedStatus, usedStatus: stock.status, asKnown: known.asKnown },
    notes: known.notes,
  };
}
