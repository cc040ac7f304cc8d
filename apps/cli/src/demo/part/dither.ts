/**
 * Two resources at one price whose amounts differ by a few atomic units, for clients that sign nothing but amounts: the
 * stock client buys one without knowing of it, and its payment for one does not fit the other, however its unsigned
 * parts are rewritten. That is what a thief of a payment would do, or a payer who wants the dearer thing.
 */
import { decodePaymentSignature, encodePaymentSignature, type PaymentPayload } from 'counterfoil/wire';
import { begunAt, ditheredPaths } from '../actor/tally.ts';
import { runAgent, signStock } from '../buyer/agent.ts';
import { problemIn, type Reply } from '../buyer/client.ts';
import { beside, type Check, type Finding, inform, must, type Part, should } from '../part.ts';
import type { Stage } from '../stage.ts';

/** What was measured. */
export type Dither = {
  /** What the siblings ask for, in atomic units. */
  readonly amounts: readonly bigint[];
  readonly stockClient: string;
  /** Each sibling's payment at the other, its echo rewritten; and so with the terms that it says it accepted. */
  readonly crossUse: readonly Pick<Reply, 'status'>[];
  readonly codes: readonly string[];
  /** By the payments of `crossUse`. */
  readonly handlerRuns: number;
  readonly transfers: number;
};

/** The official seller has no such thing. */
const none = 'n/a';

export const dither: Part = {
  name: 'dither',
  group: 'binding',
  title: `Dithered siblings: ${ditheredPaths.join(' and ')} at one price, told apart by their amounts`,
  promise: 'S2',
  claim: 'a stock payment for one sibling does not buy the other',
  play: async (stage) => finding(await measure(stage)),
};

async function measure(stage: Stage): Promise<Dither> {
  const { chain, client, roles } = stage;
  const shop = stage.ours();
  const [sun, moon] = ditheredPaths.map((path) => shop.origin + path);
  if (sun === undefined || moon === undefined) throw new Error('There are no siblings.');
  const errand = { url: sun, network: chain.network, asset: chain.dollar.address };
  const paidBefore = await stage.paymentsOf(roles.ours.address);
  const { outcomes } = await runAgent(roles.ours, { ...errand, calls: 1 });
  const payments = [
    { at: moon, payment: await signStock(roles.ours, errand) },
    { at: sun, payment: await signStock(roles.ours, { ...errand, url: moon }) },
  ];
  const before = await shop.counts();
  const crossUse: Reply[] = [];
  for (const { at, payment } of payments)
    for (const header of await forge(stage, payment, at)) crossUse.push(await client.get(at, header));
  return {
    amounts: payments.map(({ payment }) => paymentOf(payment).accepted.amount),
    stockClient: outcomes.join(),
    crossUse,
    codes: crossUse.map((reply) => problemIn(reply) ?? '-'),
    handlerRuns: begunAt(await shop.counts()) - begunAt(before),
    transfers: (await stage.paymentsOf(roles.ours.address)) - paidBefore,
  };
}

/** The payment with what it echoes rewritten to another URL, and then with the terms of that one too. */
async function forge(stage: Stage, header: string, url: string): Promise<readonly string[]> {
  const { resource, accepts, extensions } = await stage.buyer('ours').ask({ url });
  const [accepted] = accepts;
  if (accepted === undefined) throw new Error('The sibling accepts nothing.');
  const echo = { ...paymentOf(header), resource, ...(extensions === undefined ? {} : { extensions }) };
  return [echo, { ...echo, accepted }].map(encodePaymentSignature);
}

function paymentOf(header: string): PaymentPayload {
  const payment = decodePaymentSignature(header);
  if (!payment.ok) throw new Error('The stock client sent no payment.');
  return payment.value;
}

/** The judgement. */
export function finding(measured: Dither): Finding {
  const { amounts, stockClient, crossUse, codes, handlerRuns, transfers } = measured;
  const statuses = crossUse.map(({ status }) => status);
  // One that got through is what counts.
  const worst = statuses.find((status) => status !== 402) ?? statuses[0] ?? 0;
  const asked = { what: 'amounts asked, atomic units', ours: amounts.join(' and '), wanted: 'two' };
  const checks: readonly Check[] = [
    should(asked, new Set(amounts).size === ditheredPaths.length),
    must('stock client, answer', stockClient, '200'),
    must('each payment at the other, echo rewritten', statuses.join(', '), '402, 402, 402, 402'),
    inform('their codes', [...new Set(codes)].join(', ')),
    must('their handler runs', handlerRuns, 0),
    must('transfers by the stock client', transfers, 1),
  ];
  return {
    checks: checks.map((check) => beside(check, none)),
    figures: { stockClient: Number(stockClient) || null, crossUse: worst },
  };
}
