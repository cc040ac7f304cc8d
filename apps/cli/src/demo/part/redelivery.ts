/** The buyer hangs up after its money moved and before the answer; the same payment fetches it, free of charge. */
import { setTimeout as delay } from 'node:timers/promises';
import { begunAt } from '../actor/tally.ts';
import { abandon, type Client, type Reply } from '../buyer/client.ts';
import { type Finding, inform, must, type Part } from '../part.ts';
import type { Stage } from '../stage.ts';

/** What was measured. */
export type Redelivery = {
  readonly octetsRead: number;
  readonly status: number;
  /** Transfers that the second presentation caused. */
  readonly charged: number;
  readonly handlerRuns: number;
  readonly presentations: number;
};

export const redelivery: Part = {
  name: 'redelivery',
  title: 'Lost answer: the buyer hangs up when the money has moved, and comes back with the same payment',
  promise: 'S4',
  claim: 'nothing paid for is lost',
  play: async (stage) => finding(await measure(stage)),
};

async function measure(stage: Stage): Promise<Redelivery> {
  const { chain, client } = stage;
  const rig = chain.rigs.ours;
  const shop = stage.ours();
  const url = `${shop.origin}/weather`;
  const buyer = stage.buyer('ours');
  const payment = await buyer.pay(url);
  const before = await shop.counts();
  await rig.clear();
  await rig.setMode('slow');
  const request = abandon(url, payment);
  await request.sent;
  await rig.landed(1);
  const octetsRead = await request.hangUp();
  await rig.setMode('pass');
  const moved = await stage.paymentsOf(buyer.address);
  const { reply, presentations } = await present(client, url, payment);
  return {
    octetsRead,
    status: reply.status,
    charged: (await stage.paymentsOf(buyer.address)) - moved,
    handlerRuns: begunAt(await shop.counts()) - begunAt(before),
    presentations,
  };
}

/** A buyer that is told to come back comes back this often. */
const mostPresentations = 40;
const pauseMs = 250;

/** Presents the same payment until it is answered for good: a busy or uncertain seller says when to come back. */
export async function present(
  client: Pick<Client, 'get'>,
  url: string,
  payment: string,
): Promise<{ readonly reply: Reply; readonly presentations: number }> {
  for (let presentations = 1; ; presentations += 1) {
    const reply = await client.get(url, payment);
    if (!reply.headers.has('retry-after') || presentations === mostPresentations)
      return { reply, presentations };
    await delay(pauseMs);
  }
}

/** The judgement. */
export function finding(measured: Redelivery): Finding {
  const { octetsRead, status, charged, handlerRuns, presentations } = measured;
  return {
    checks: [
      must('octets of the answer read before hanging up', octetsRead, 0),
      must('answer to the same payment', status, 200),
      must('transfers by it', charged, 0),
      must('handler runs in all', handlerRuns, 1),
      inform('presentations until the answer', presentations),
    ],
    figures: { status, charged, handlerRuns },
  };
}
