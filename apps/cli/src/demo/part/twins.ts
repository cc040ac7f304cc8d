/** Honest twins: one buyer wants the same thing twenty times at once and pays twenty times. Nobody is refused. */
import { begunAt } from '../actor/tally.ts';
import { countStatuses, transactionIn } from '../buyer/client.ts';
import { type Finding, inform, must, type Part } from '../part.ts';
import type { Stage } from '../stage.ts';

/** A burst that real sellers see in one block. */
const twinCount = 20;

/** What was measured. */
export type Twins = {
  readonly transfers: number;
  readonly deliveries: number;
  readonly handlerRuns: number;
  /** Different transactions in the answers. */
  readonly transactions: number;
  readonly statuses: string;
};

export const twins: Part = {
  name: 'twins',
  title: `Twins: ${twinCount} different payments of one buyer for the same request, at the same moment`,
  promise: 'S3',
  claim: 'who means to pay again is served again',
  play: async (stage) => finding(await measure(stage)),
};

async function measure(stage: Stage): Promise<Twins> {
  const { chain, client, fromBlock } = stage;
  const shop = stage.ours();
  const url = `${shop.origin}/weather`;
  const buyer = stage.buyer('oursTwins');
  const required = await buyer.ask({ url });
  const payments = await Promise.all(Array.from({ length: twinCount }, () => buyer.sign(required)));
  const before = await shop.counts();
  const replies = await Promise.all(payments.map((payment) => client.get(url, payment)));
  const logs = await chain.chain.transfers({ from: buyer.address, to: chain.sellerAddress, fromBlock });
  const served = replies.filter((reply) => reply.status === 200);
  return {
    transfers: logs.length,
    deliveries: served.length,
    handlerRuns: begunAt(await shop.counts()) - begunAt(before),
    transactions: new Set(served.map(transactionIn)).size,
    statuses: countStatuses(replies),
  };
}

/** The judgement. */
export function finding(measured: Twins): Finding {
  const { transfers, deliveries, handlerRuns, transactions, statuses } = measured;
  return {
    checks: [
      must('transfers on the chain', transfers, twinCount),
      must('deliveries', deliveries, twinCount),
      must('handler runs', handlerRuns, twinCount),
      must('different transactions in the answers', transactions, twinCount),
      inform('answers', statuses),
    ],
    figures: { transfers, deliveries, handlerRuns },
  };
}
