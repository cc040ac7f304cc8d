/** A seller with one priced route behind a real socket, and a buyer who signs what it asks for. */
import type { RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { createRig, type Rig } from '../../../test/rig.ts';
import type { Route, RouteOptions, RouteRequest, Seller } from '../../seller/index.ts';
import { decodePaymentRequired, encodePaymentSignature } from '../../wire/index.ts';
import { type Asked, ask, type Received, serve } from './wire.ts';

export type Shop = {
  readonly rig: Rig;
  readonly route: Route<RouteRequest>;
  readonly port: number;
  readonly ask: (asked?: Asked) => Promise<Received>;
  /** Asks for the terms and signs them; gives the value of the header. */
  readonly payment: (asked?: Asked) => Promise<string>;
  /** The same request unpaid, then paid. */
  readonly buy: (asked?: Asked) => Promise<Received>;
};

/** Opens a shop for the length of a test. */
export async function openShop(
  t: TestContext,
  make: (seller: Seller, route: Route<RouteRequest>) => RequestListener,
  options: Partial<RouteOptions<RouteRequest>> = {},
): Promise<Shop> {
  const rig = createRig();
  const { parse: _parse, ...settings } = {
    method: 'GET',
    path: '/weather',
    price: '$0.01',
    ...options,
  } as const;
  const route = rig.seller.route(settings);
  const port = await serve(t, make(rig.seller, route));
  const payment = async (asked?: Asked): Promise<string> => {
    const unpaid = await ask(port, asked);
    const required = decodePaymentRequired(unpaid.header('payment-required') ?? '');
    if (!required.ok) throw new Error(`no terms in ${unpaid.status} ${unpaid.text}`);
    return encodePaymentSignature(await rig.pay(required.value));
  };
  return {
    rig,
    route,
    port,
    ask: (asked) => ask(port, asked),
    payment,
    buy: async (asked) => ask(port, paying(await payment(asked), asked)),
  };
}

/** The request with a payment. */
export function paying(payment: string, asked: Asked = {}): Asked {
  return { ...asked, headers: [...(asked.headers ?? []), ['PAYMENT-SIGNATURE', payment]] };
}
