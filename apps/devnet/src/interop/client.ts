/**
 * The two stock clients, unchanged: `@x402/fetch`, and `@x402/axios` with the older core that it brings along. What they
 * sign and what they send is watched from outside.
 */
import { x402Client as olderClient, wrapAxiosWithPayment } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import axios, { isAxiosError } from 'axios';
import { decodePaymentSignature, type PaymentPayload } from 'counterfoil/wire';
import type { LocalAccount } from 'viem';
import type { Devnet } from '../devnet.ts';

/** A request to buy; GET without more. */
export type Order = { readonly url: string; readonly method?: string; readonly body?: string };

export type StockClient = {
  /** The last answer, whatever its status. */
  readonly buy: (order: Order) => Promise<Response>;
  /** Authorizations that were signed. */
  readonly signatures: () => number;
  /** Payments that were sent, each as often as it was. */
  readonly sent: readonly PaymentPayload[];
};

/** What a test may do to the current client before it buys. */
export type Prepare = (client: x402Client) => void;

type Watched = { readonly account: LocalAccount; readonly signatures: () => number };

/** Each makes a client for one account. */
export const stockClients: Readonly<
  Record<'axios' | 'fetch', (devnet: Devnet, account: LocalAccount) => StockClient>
> = { axios: stockAxios, fetch: stockFetch };

/** `@x402/fetch`, with what `prepare` adds to it. */
export function stockFetch(devnet: Devnet, account: LocalAccount, prepare?: Prepare): StockClient {
  const watched = watch(account);
  const client = new x402Client().register(devnet.network, new ExactEvmScheme(watched.account));
  client.setSpendControls({ allowedAssets: [{ network: devnet.network, asset: devnet.dollar.address }] });
  prepare?.(client);
  const sent: PaymentPayload[] = [];
  const pay = wrapFetchWithPayment((input, init) => {
    const request = new Request(input, init);
    note(sent, request.headers.get('payment-signature'));
    return fetch(request);
  }, client);
  const buy = ({ url, method = 'GET', body }: Order): Promise<Response> =>
    pay(url, body === undefined ? { method } : { method, body, headers: { 'content-type': 'text/plain' } });
  return { buy, signatures: watched.signatures, sent };
}

function stockAxios(devnet: Devnet, account: LocalAccount): StockClient {
  const watched = watch(account);
  const client = new olderClient().register(devnet.network, new ExactEvmScheme(watched.account));
  const sent: PaymentPayload[] = [];
  // As text, so that an answer is what came.
  const instance = axios.create({ responseType: 'text', transformResponse: (answer) => answer });
  instance.interceptors.request.use((config) => {
    note(sent, config.headers.get('payment-signature'));
    return config;
  });
  const pay = wrapAxiosWithPayment(instance, client);
  const buy = async ({ url, method = 'GET', body }: Order): Promise<Response> => {
    const order =
      body === undefined
        ? { url, method }
        : { url, method, data: body, headers: { 'content-type': 'text/plain' } };
    const answer = await pay.request(order).catch((fault: unknown) => {
      if (isAxiosError(fault) && fault.response !== undefined) return fault.response;
      throw fault;
    });
    const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return new Response(String(answer.data), { status: answer.status, headers });
  };
  return { buy, signatures: watched.signatures, sent };
}

function watch(account: LocalAccount): Watched {
  let signatures = 0;
  const signTypedData: LocalAccount['signTypedData'] = (typed) => {
    signatures += 1;
    return account.signTypedData(typed);
  };
  return { account: { ...account, signTypedData }, signatures: () => signatures };
}

function note(sent: PaymentPayload[], header: unknown): void {
  if (typeof header !== 'string') return;
  const payment = decodePaymentSignature(header);
  if (!payment.ok) throw new Error('A stock client sent no payment.');
  sent.push(payment.value);
}
