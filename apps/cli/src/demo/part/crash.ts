/**
 * The seller is killed (SIGKILL) after the money moved and before it heard so. It starts again on the same file; the
 * same payment is presented until its owner's lease is over, and is then answered.
 */
import { begunAt } from '../actor/tally.ts';
import { transactionIn } from '../buyer/client.ts';
import { type Finding, inform, must, type Part, should } from '../part.ts';
import type { Stage } from '../stage.ts';
import { present } from './redelivery.ts';

/** Short, so that the demonstration need not wait for the half minute that is right for a real seller. */
const timing = {
  settleMs: 4_000,
  lease: { leaseMs: 3_000, heartbeatMs: 700, marginMs: 800, graceMs: 300 },
} as const;

/** What was measured. */
export type Crash = {
  /** How the first request ended: cut, or with a status. */
  readonly firstAnswer: string;
  readonly transfers: number;
  readonly deliveries: number;
  readonly handlerRuns: number;
  readonly settles: number;
  readonly presentations: number;
  readonly transaction: string | undefined;
};

export const crash: Part = {
  name: 'crash',
  title: 'Crash: kill -9 of the seller after the settle was sent, restart on the same file, same payment',
  promise: 'S4',
  claim: 'kill -9 at any point costs nobody anything',
  play: async (stage) => finding(await measure(stage)),
};

async function measure(stage: Stage): Promise<Crash> {
  const { chain, client, fromBlock } = stage;
  const rig = chain.rigs.ours;
  await stage.stopOurs('stop');
  await stage.startOurs(timing);
  const url = `${stage.ours().origin}/weather`;
  const buyer = stage.buyer('oursCrash');
  const payment = await buyer.pay(url);
  await rig.clear();
  await rig.setMode('land_then_hang');
  const pending = client.get(url, payment).then(
    (reply) => String(reply.status),
    () => 'cut',
  );
  await rig.landed(1);
  const runsBefore = begunAt(await stage.ours().counts());
  await stage.stopOurs('kill');
  const firstAnswer = await pending;
  await rig.setMode('pass');
  await stage.startOurs(timing);
  const { reply, presentations } = await present(client, url, payment);
  const logs = await chain.chain.transfers({ from: buyer.address, to: chain.sellerAddress, fromBlock });
  return {
    firstAnswer,
    transfers: logs.length,
    deliveries: [firstAnswer, String(reply.status)].filter((status) => status === '200').length,
    handlerRuns: runsBefore + begunAt(await stage.ours().counts()),
    settles: (await rig.counts()).settle,
    presentations,
    transaction: transactionIn(reply),
  };
}

/** The judgement. */
export function finding(measured: Crash): Finding {
  const { firstAnswer, transfers, deliveries, handlerRuns, settles, presentations, transaction } = measured;
  return {
    checks: [
      must('first request', firstAnswer, 'cut'),
      must('transfers on the chain', transfers, 1),
      must('deliveries', deliveries, 1),
      must('handler runs', handlerRuns, 1),
      must('settles sent', settles, 1),
      should(
        { what: 'transaction in the answer', ours: transaction ?? 'none', wanted: 'a hash' },
        transaction !== undefined,
      ),
      inform('presentations until the answer', presentations),
    ],
    figures: { transfers, deliveries, handlerRuns, settles, presentations },
  };
}
