/**
 * A stock agent: `@x402/fetch` with `@x402/evm`, unchanged. It calls until its first 200, as agents do that take a
 * failed call for a failed payment; what happened on the wire is counted beside it.
 */

import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import { paymentRequiredHeader, paymentSignatureHeader } from 'counterfoil/wire';
import { privateKeyToAccount } from 'viem/accounts';
import type { Account } from '../actor/chain.ts';

/** What came of a row of calls. */
export type AgentRun = {
  /** Calls of the agent, each of which may be several requests. */
  readonly calls: number;
  /** Calls that ended in a 200. */
  readonly deliveries: number;
  /** Requests that carried a payment and were answered 402 with PAYMENT-REQUIRED: an invitation to pay again. */
  readonly payable402: number;
  /** Payments that were signed and sent. */
  readonly payments: number;
  /** Status of each call, or the first line of what the stock client threw. */
  readonly outcomes: readonly string[];
  /** The body of the delivery. */
  readonly body: string | undefined;
};

/** What an agent pays with, and where. */
export type Errand = {
  readonly url: string;
  readonly network: `${string}:${string}`;
  readonly asset: string;
};

/** Calls `url` at most `calls` times, until the first 200. */
export async function runAgent(
  account: Account,
  about: Errand & { readonly calls: number },
): Promise<AgentRun> {
  const wire = { payments: 0, payable402: 0 };
  const pay = wrapFetchWithPayment(countingFetch(wire), stockClient(account, about));
  const outcomes: string[] = [];
  for (let call = 1; call <= about.calls; call += 1) {
    const { status, text } = await callOnce(pay, about.url);
    outcomes.push(status);
    if (status === '200') return { calls: call, deliveries: 1, ...wire, outcomes, body: text };
  }
  return { calls: about.calls, deliveries: 0, ...wire, outcomes, body: undefined };
}

/** What the stock client would send for `url`, as the text of its header, and does not send. */
export async function signStock(account: Account, about: Errand): Promise<string> {
  const client = new x402HTTPClient(stockClient(account, about));
  const answer = await fetch(about.url);
  await answer.text();
  const required = client.getPaymentRequiredResponse((name) => answer.headers.get(name));
  const headers = client.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === paymentSignatureHeader);
  if (found === undefined) throw new Error('The stock client made no payment.');
  return found[1];
}

function stockClient(account: Account, { network, asset }: Errand): x402Client {
  return new x402Client()
    .register(network, new ExactEvmScheme(privateKeyToAccount(account.privateKey)))
    .setSpendControls({ allowedAssets: [{ network, asset }] });
}

async function callOnce(pay: typeof fetch, url: string): Promise<{ status: string; text: string }> {
  try {
    const answer = await pay(url);
    return { status: String(answer.status), text: await answer.text() };
  } catch (fault) {
    return { status: fault instanceof Error ? (fault.message.split('\n', 1)[0] ?? '') : 'failed', text: '' };
  }
}

/** The platform's fetch, watched. */
function countingFetch(wire: { payments: number; payable402: number }): typeof fetch {
  return async (input, init) => {
    const sent = new Request(input, init);
    const paying = sent.headers.has(paymentSignatureHeader);
    if (paying) wire.payments += 1;
    const answer = await fetch(sent);
    if (paying && answer.status === 402 && answer.headers.has(paymentRequiredHeader)) wire.payable402 += 1;
    return answer;
  };
}
