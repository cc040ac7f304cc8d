/** The first payment: ask, sign, pay; a 200, a transaction, and the transfer in the chain's own log. */
import { transactionIn } from '../buyer/client.ts';
import { type Check, type Finding, inform, must, type Part, should } from '../part.ts';
import type { Stage } from '../stage.ts';

/** What was measured. */
export type First = {
  readonly unpaidStatus: number;
  readonly status: number;
  readonly transaction: string | undefined;
  /** Transfers with that hash, from the buyer to the seller, of the price. */
  readonly transfers: number;
  readonly tookMs: number;
};

export const first: Part = {
  name: 'first',
  title: 'First payment: ask, sign, pay',
  promise: 'S6',
  claim: 'the answer leaves when the money has moved',
  play: async (stage) => finding(await measure(stage)),
};

async function measure(stage: Stage): Promise<First> {
  const { chain, client, fromBlock } = stage;
  const url = `${stage.ours().origin}/weather`;
  const buyer = stage.buyer('ours');
  const unpaid = await client.get(url);
  const required = await buyer.ask({ url });
  const paid = await client.get(url, await buyer.sign(required));
  const transaction = transactionIn(paid);
  const logs = await chain.chain.transfers({ from: buyer.address, to: chain.sellerAddress, fromBlock });
  const amount = required.accepts[0]?.amount;
  const own = logs.filter((log) => log.transaction === transaction && log.value === amount);
  return {
    unpaidStatus: unpaid.status,
    status: paid.status,
    transaction,
    transfers: own.length,
    tookMs: paid.endMs - paid.startMs,
  };
}

/** The judgement. */
export function finding(measured: First): Finding {
  const { unpaidStatus, status, transaction, transfers, tookMs } = measured;
  const checks: readonly Check[] = [
    must('answer without a payment', unpaidStatus, 402),
    must('answer with a payment', status, 200),
    should(
      { what: 'transaction in PAYMENT-RESPONSE', ours: transaction ?? 'none', wanted: 'a hash' },
      transaction !== undefined,
    ),
    must('transfers of the price in the chain log', transfers, 1),
    inform('time of the paid request', `${tookMs} ms`),
  ];
  return { checks, figures: { status, transaction: transaction ?? null, transfers, tookMs } };
}
