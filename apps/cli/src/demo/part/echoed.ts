/**
 * A payment that was signed for one URL and not used, presented at another that asks for the same: what every stock
 * client sends is compared by the URL that it echoes. What is refused is not lost: it still buys what it was made for.
 */
import { begunAt } from '../actor/tally.ts';
import { problemIn } from '../buyer/client.ts';
import { asKnown, beside, type Finding, inform, must, type Part } from '../part.ts';
import type { Stage } from '../stage.ts';

/** What was measured with one seller. */
export type Echoed = {
  /** At /premium. */
  readonly status: number;
  readonly code: string | undefined;
  readonly handlerRuns: number;
  /** Afterwards, of the same payment at /weather. */
  readonly ownStatus: number;
};

export const echoed: Part = {
  name: 'echoed',
  group: 'binding',
  title: 'Binding by echo: an unused payment that was signed for /weather, at /premium and then at /weather',
  promise: 'S2',
  claim: 'an unused payment buys the URL that it echoes, and is not lost at another',
  play: async (stage) => {
    const ours = await measure(stage, 'ours');
    return finding(ours, await measure(stage, 'stock'));
  },
};

async function measure(stage: Stage, whose: 'ours' | 'stock'): Promise<Echoed> {
  const { client } = stage;
  const shop = whose === 'ours' ? stage.ours() : stage.stock;
  const payment = await stage.buyer(whose).pay(`${shop.origin}/weather`);
  const before = await shop.counts();
  const other = await client.get(`${shop.origin}/premium`, payment);
  const after = await shop.counts();
  const own = await client.get(`${shop.origin}/weather`, payment);
  return {
    status: other.status,
    code: problemIn(other),
    handlerRuns: begunAt(after) - begunAt(before),
    ownStatus: own.status,
  };
}

/** The judgement. */
export function finding(ours: Echoed, stock: Echoed): Finding {
  const known = asKnown(stock.status === 200 && stock.handlerRuns === 1);
  return {
    checks: [
      beside(must('at /premium, answer', ours.status, 402), stock.status),
      beside(must('at /premium, handler runs', ours.handlerRuns, 0), stock.handlerRuns),
      beside(inform('at /premium, code', ours.code ?? '-'), stock.code ?? '-'),
      beside(must('afterwards at /weather, answer', ours.ownStatus, 200), stock.ownStatus),
    ],
    figures: { status: ours.status, handlerRuns: ours.handlerRuns },
    official: { status: stock.status, handlerRuns: stock.handlerRuns, asKnown: known.asKnown },
    notes: known.notes,
  };
}
