/**
 * A used payment on another resource at the same price. The official seller is asked what it is weak in: a payment
 * made for one resource and not used yet, presented at the other.
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
};

export const elsewhere: Part = {
  name: 'usedElsewhere',
  title: 'Substitution: the payment for /weather, presented at /premium',
  promise: 'S2',
  claim: 'a payment that was presented buys no other request',
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
  return {
    status: used.status,
    code: problemIn(used),
    handlerRuns: begunAt(after) - begunAt(before),
    unusedStatus: unused.status,
  };
}

/** The judgement. Which request an unused payment buys is not enforced yet, so that row informs. */
export function finding(ours: Elsewhere, stock: Elsewhere): Finding {
  const known = asKnown(stock.unusedStatus === 200);
  return {
    checks: [
      beside(must('used payment, answer', ours.status, 409), stock.status),
      beside(must('used payment, handler runs', ours.handlerRuns, 0), stock.handlerRuns),
      beside(inform('used payment, code', ours.code ?? '-'), stock.code ?? '-'),
      beside(inform('unused payment, answer', ours.unusedStatus), stock.unusedStatus),
    ],
    figures: { status: ours.status, handlerRuns: ours.handlerRuns, unusedStatus: ours.unusedStatus },
    official: { status: stock.unusedStatus, usedStatus: stock.status, asKnown: known.asKnown },
    notes: [
      'An unused payment is not bound to its request yet: it buys what is sold on the same terms.',
      ...known.notes,
    ],
  };
}
