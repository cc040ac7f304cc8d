/** A seller with one priced route behind a real socket, and a buyer who signs what it asks for. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { createRig, type Rig, rest } from '../../../test/rig.ts';
import type { Route, RouteOptions, RouteRequest, Seller, SellerOptions } from '../../seller/index.ts';
import { decodePaymentRequired, encodePaymentSignature } from '../../wire/index.ts';
import { type Asked, ask, octets, open, type Received, serve, until } from './wire.ts';

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
  seller: Partial<SellerOptions> = {},
): Promise<Shop> {
  const rig = createRig(seller);
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

/** Buys while the settlement is held back, and sees that not one octet leaves meanwhile (H15). */
export async function buyHeld(shop: Shop, asked: Asked = {}): Promise<Received> {
  const settle = Promise.withResolvers<void>();
  shop.rig.settles.push({ says: 'success', before: settle.promise });
  const settles = shop.rig.calls.settle;
  const wire = open(shop.port);
  wire.send(octets(paying(await shop.payment(asked), asked)));
  await until(() => shop.rig.calls.settle > settles || wire.soFar() !== '');
  // What has left by now has the time to arrive.
  await rest();
  assert.equal(wire.soFar(), '', 'octets left before the money had moved');
  settle.resolve();
  const [answer] = await wire.answers();
  wire.socket.destroy();
  assert.ok(answer);
  return answer;
}

/** The code of a refusal. */
export function codeOf(answer: Received): string {
  assert.equal(answer.header('content-type'), 'application/problem+json');
  return JSON.parse(answer.text).code;
}
