/**
 * Many copies of one payment at the same moment, on a handler that works for seconds: it runs once, and the others
 * are told so before it ends. The official seller is sent the same.
 */

import type { Rig } from '../actor/chain.ts';
import type { ShopActor } from '../actor/shop.ts';
import { begunAt } from '../actor/tally.ts';
import { countStatuses, type Reply } from '../buyer/client.ts';
import type { Buyer } from '../buyer/wallet.ts';
import { asKnown, beside, type Finding, inform, must, type Part, should } from '../part.ts';
import type { Stage } from '../stage.ts';

/** What was measured with one seller. */
export type Burst = {
  readonly n: number;
  readonly handlerRuns: number;
  readonly settles: number;
  /** Answers 200. */
  readonly ok: number;
  readonly statuses: string;
  /** Answers other than 200 that had come before the first run of the handler ended. */
  readonly losersBeforeEnd: number;
  /** From the start of a request to the last octet of its answer. */
  readonly losersP99Ms: number | null;
  readonly winnerMs: number | null;
};

const path = '/work';

export const burst: Part = {
  name: 'burst',
  title: 'Burst: copies of one payment at the same moment, on an expensive handler',
  promise: 'S1',
  claim: 'one payment, one execution; losers are told before it ends',
  play: async (stage) => {
    const ours = await measure(stage, {
      shop: stage.ours(),
      rig: stage.chain.rigs.ours,
      buyer: stage.buyer('ours'),
    });
    const stock = await measure(stage, {
      shop: stage.stock,
      rig: stage.chain.rigs.stock,
      buyer: stage.buyer('stock'),
    });
    return finding(ours, stock);
  },
};

async function measure(stage: Stage, side: { shop: ShopActor; rig: Rig; buyer: Buyer }): Promise<Burst> {
  const { client, settings } = stage;
  const { shop, rig, buyer } = side;
  const payment = await buyer.pay(shop.origin + path);
  await client.warm(`${shop.origin}/hello`, settings.copies);
  const [before, callsBefore] = await Promise.all([shop.counts(), rig.counts()]);
  const sending = Array.from({ length: settings.copies }, () => client.get(shop.origin + path, payment));
  const replies = await Promise.all(sending);
  const [after, callsAfter] = await Promise.all([shop.counts(), rig.counts()]);
  const ends = after.runs.slice(before.runs.length).filter((run) => run.path === path);
  return {
    handlerRuns: begunAt(after, path) - begunAt(before, path),
    settles: callsAfter.settle - callsBefore.settle,
    ...summarize(replies, Math.min(...ends.map((run) => run.endMs))),
  };
}

/** What the answers of a burst say; `endMs` is when the first run of the handler ended. */
export function summarize(
  replies: readonly Pick<Reply, 'status' | 'startMs' | 'endMs'>[],
  endMs: number,
): Omit<Burst, 'handlerRuns' | 'settles'> {
  const winners = replies.filter((reply) => reply.status === 200);
  const losers = replies.filter((reply) => reply.status !== 200);
  const times = losers.map((reply) => reply.endMs - reply.startMs).sort((a, b) => a - b);
  const [winner] = winners;
  return {
    n: replies.length,
    ok: winners.length,
    statuses: countStatuses(replies),
    losersBeforeEnd: losers.filter((reply) => reply.endMs < endMs).length,
    losersP99Ms: times[Math.ceil(times.length * 0.99) - 1] ?? null,
    winnerMs: winner === undefined ? null : winner.endMs - winner.startMs,
  };
}

/** The judgement; the official seller's figures stand beside it. */
export function finding(ours: Burst, stock: Burst): Finding {
  const { n } = ours;
  const known = asKnown(stock.handlerRuns === n && stock.ok === 1);
  return {
    checks: [
      inform('copies sent at once', n),
      beside(must('handler runs', ours.handlerRuns, 1), stock.handlerRuns),
      beside(must('settles sent to the facilitator', ours.settles, 1), stock.settles),
      beside(must('answers 200', ours.ok, 1), stock.ok),
      beside(inform('all answers', ours.statuses), stock.statuses),
      beside(
        must('losers told before the handler ended', ours.losersBeforeEnd, n - 1),
        stock.losersBeforeEnd,
      ),
      beside(inform('p99 of the losers', ms(ours.losersP99Ms)), ms(stock.losersP99Ms)),
      beside(
        should({ what: 'time of the winner', ours: ms(ours.winnerMs) }, ours.winnerMs !== null),
        ms(stock.winnerMs),
      ),
    ],
    figures: ours,
    official: { ...stock, asKnown: known.asKnown },
    notes: known.notes,
  };
}

function ms(value: number | null): string {
  return value === null ? '-' : `${value} ms`;
}
