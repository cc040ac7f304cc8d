/** The payment of a delivered answer, presented again and again, and on another resource at the same price. */
import { begunAt } from '../actor/tally.ts';
import { countStatuses, problemIn, type Reply, transactionIn } from '../buyer/client.ts';
import { type Finding, inform, must, type Part, should } from '../part.ts';
import type { Stage } from '../stage.ts';

/** How often the payment is presented again. */
const times = 10;

/** What was measured. */
export type Replay = {
  readonly handlerRuns: number;
  readonly settles: number;
  readonly statuses: string;
  /** Answers that were neither the kept one with its transaction nor a 409. */
  readonly strange: number;
};

export const replay: Part = {
  name: 'replay',
  title: `Replay: the same payment ${times} times more, after its answer was delivered`,
  promise: 'S1',
  claim: 'a delivered payment runs nothing and moves nothing again',
  play: async (stage) => finding(await measure(stage)),
};

async function measure(stage: Stage): Promise<Replay> {
  const { client } = stage;
  const shop = stage.ours();
  const url = `${shop.origin}/weather`;
  const payment = await stage.buyer('ours').pay(url);
  const bought = await client.get(url, payment);
  const [before, callsBefore] = await Promise.all([shop.counts(), stage.chain.rigs.ours.counts()]);
  const replies: Reply[] = [];
  for (let time = 0; time < times; time += 1) replies.push(await client.get(url, payment));
  const [after, callsAfter] = await Promise.all([shop.counts(), stage.chain.rigs.ours.counts()]);
  return {
    handlerRuns: begunAt(after) - begunAt(before),
    settles: callsAfter.settle - callsBefore.settle,
    statuses: countStatuses(replies),
    strange: bought.status === 200 ? replies.filter((reply) => !isSame(bought, reply)).length : times,
  };
}

/** Word for word what was bought, under the same transaction; or the statement that the payment was used. */
export function isSame(bought: Reply, reply: Reply): boolean {
  if (reply.status === 409) return problemIn(reply) === 'payment_already_used';
  const transaction = transactionIn(bought);
  return reply.status === 200 && reply.body === bought.body && transactionIn(reply) === transaction;
}

/** The judgement. */
export function finding(measured: Replay): Finding {
  const { handlerRuns, settles, statuses, strange } = measured;
  return {
    checks: [
      must('handler runs', handlerRuns, 0),
      must('settles sent', settles, 0),
      should({ what: 'answers', ours: statuses, wanted: 'the kept answer, or 409' }, strange === 0),
      inform('of them the kept answer, word for word, or a 409', times - strange),
    ],
    figures: { handlerRuns, settles, statuses },
  };
}
