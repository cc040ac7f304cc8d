/**
 * A facilitator that moves the money and then answers 502, and a stock agent that takes every failure for a failed
 * payment: it calls again until its first 200, three times at most.
 */
import { type AgentRun, runAgent } from '../buyer/agent.ts';
import { asKnown, beside, type Finding, inform, must, type Part, should } from '../part.ts';
import type { Stage } from '../stage.ts';

/** The agent gives up after this many calls. */
const mostCalls = 3;

/** What was measured with one seller. */
export type Lost = Pick<AgentRun, 'calls' | 'deliveries' | 'payable402' | 'payments' | 'outcomes'> & {
  readonly transfers: number;
};

export const lost: Part = {
  name: 'lostSettle',
  title:
    'Lost settle: the facilitator moves the money and answers 502; a stock agent calls until its first 200',
  promise: 'S3',
  claim: 'an unknown settlement is never taken for a failed one',
  play: async (stage) => {
    const ours = await measure(stage, 'ours');
    return finding(ours, await measure(stage, 'stock'));
  },
};

async function measure(stage: Stage, whose: 'ours' | 'stock'): Promise<Lost> {
  const { chain, roles, fromBlock } = stage;
  const shop = whose === 'ours' ? stage.ours() : stage.stock;
  const account = whose === 'ours' ? roles.oursAgent : roles.stockAgent;
  const to = whose === 'ours' ? chain.sellerAddress : stage.stockPayTo;
  const rig = chain.rigs[whose];
  await rig.setMode('land_then_502');
  try {
    const run = await runAgent(account, {
      url: `${shop.origin}/weather`,
      calls: mostCalls,
      network: chain.network,
      asset: chain.dollar.address,
    });
    const logs = await chain.chain.transfers({ from: account.address, to, fromBlock });
    const { calls, deliveries, payable402, payments, outcomes } = run;
    return { calls, transfers: logs.length, deliveries, payable402, payments, outcomes };
  } finally {
    await rig.setMode('pass');
  }
}

/** The judgement. */
export function finding(ours: Lost, stock: Lost): Finding {
  const known = asKnown(stock.transfers === mostCalls && stock.deliveries === 0);
  return {
    checks: [
      beside(
        should(
          { what: 'calls of the agent', ours: String(ours.calls), wanted: `at most ${mostCalls}` },
          ours.calls <= mostCalls,
        ),
        stock.calls,
      ),
      beside(inform('answers to them', ours.outcomes.join(', ')), stock.outcomes.join(', ')),
      beside(inform('payments it signed', ours.payments), stock.payments),
      beside(must('transfers on the chain', ours.transfers, 1), stock.transfers),
      beside(must('deliveries', ours.deliveries, 1), stock.deliveries),
      beside(must('402s that asked a paying request to pay', ours.payable402, 0), stock.payable402),
    ],
    figures: ours,
    official: { ...stock, asKnown: known.asKnown },
    notes: known.notes,
  };
}
