/**
 * Payments whose signature commits to the whole request, on a route that takes no others: our own client buys, and an
 * unused payment buys no other body, method or host, not even with the salt left out that tells what it commits to.
 * Every request has a payment of its own.
 */
import { decodePaymentSignature, encodePaymentSignature } from 'counterfoil/wire';
import { begunAt, chatPath } from '../actor/tally.ts';
import { type Asked, problemIn } from '../buyer/client.ts';
import { beside, type Check, type Finding, inform, must, type Part, should } from '../part.ts';
import type { Stage } from '../stage.ts';

/** What came of one payment. */
export type Presented = {
  readonly status: number;
  readonly code: string | undefined;
  readonly handlerRuns: number;
};

/** What was measured. */
export type Required = {
  readonly ownClient: Presented;
  readonly otherBody: Presented;
  /** Another body again, by a payer who would rather not have committed: what is unsigned is left out. */
  readonly noSalt: Presented;
  /** At a route of the same path and price. */
  readonly otherMethod: Presented;
  /** By the Host header of the same request. */
  readonly otherHost: Presented;
  /** By all five payments. */
  readonly transfers: number;
};

/** The official seller has no such thing. */
const none = 'n/a';

export const required: Part = {
  name: 'required',
  group: 'binding',
  title: `Binding by signature: payments that commit to POST ${chatPath} with a body, and to nothing else`,
  promise: 'S2',
  claim: 'under required, a payment buys exactly one method, URL, body and set of headers',
  play: async (stage) => finding(await measure(stage)),
};

async function measure(stage: Stage): Promise<Required> {
  const buyer = stage.buyer('ours');
  const url = stage.ours().origin + chatPath;
  const asked: Asked = { method: 'POST', url, body: '{"model":"small"}' };
  const before = await stage.paymentsOf(buyer.address);
  const presented = async (sent: Asked): Promise<Presented> =>
    present(stage, await buyer.commit(asked), sent);
  const dearer = { ...asked, body: '{"model":"large"}' };
  const otherBody = await presented(dearer);
  const noSalt = await present(stage, withoutExtensions(await buyer.commit(asked)), dearer);
  const otherMethod = await presented({ ...asked, method: 'PUT' });
  const otherHost = await presented({ ...asked, host: 'shop.example' });
  const ownClient = await presented(asked);
  const transfers = (await stage.paymentsOf(buyer.address)) - before;
  return { ownClient, otherBody, noSalt, otherMethod, otherHost, transfers };
}

async function present(stage: Stage, payment: string, sent: Asked): Promise<Presented> {
  const shop = stage.ours();
  const before = await shop.counts();
  const reply = await stage.client.send(sent, payment);
  const handlerRuns = begunAt(await shop.counts()) - begunAt(before);
  return { status: reply.status, code: problemIn(reply), handlerRuns };
}

function withoutExtensions(header: string): string {
  const payment = decodePaymentSignature(header);
  if (!payment.ok) throw new Error('Our own client made no payment.');
  const { extensions: _left, ...rest } = payment.value;
  return encodePaymentSignature(rest);
}

/** The judgement. */
export function finding(measured: Required): Finding {
  const { ownClient, otherBody, noSalt, otherMethod, otherHost, transfers } = measured;
  const host = { what: 'another Host, answer', ours: String(otherHost.status), wanted: '402 or 421' };
  const refused = [otherBody, noSalt, otherMethod, otherHost];
  const checks: readonly Check[] = [
    must('own client, answer', ownClient.status, 200),
    must('own client, handler runs', ownClient.handlerRuns, 1),
    must('another body, answer', otherBody.status, 402),
    must('another body, its salt left out, answer', noSalt.status, 402),
    must('another method, answer', otherMethod.status, 402),
    should(host, otherHost.status === 402 || otherHost.status === 421),
    inform('their codes', [...new Set(refused.map(({ code }) => code ?? '-'))].join(', ')),
    must('their handler runs', Math.max(...refused.map(({ handlerRuns }) => handlerRuns)), 0),
    must('transfers by all five payments', transfers, 1),
  ];
  return {
    checks: checks.map((check) => beside(check, none)),
    figures: {
      otherBody: otherBody.status,
      otherMethod: otherMethod.status,
      otherHost: otherHost.status,
      ownClient: ownClient.status,
    },
  };
}
