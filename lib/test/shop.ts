/**
 * A small shop on the rig: one priced route whose work counts its runs, and the two things that nearly every test
 * does with it: ask for the terms, and present a payment.
 */
import type { WorkContext } from '../src/seller/message.ts';
import type { Route, RouteOptions, RouteRequest } from '../src/seller/route.ts';
import type { Seller } from '../src/seller/seller.ts';
import type { PaymentPayload } from '../src/wire/v2.ts';
import {
  type Ask,
  answerOf,
  createRig,
  type PayOptions,
  type Rig,
  read,
  requestOf,
  type Seen,
} from './rig.ts';

export type TestWork = (context: WorkContext<RouteRequest>) => Promise<ReturnType<typeof answerOf>>;

export type TestShop = {
  readonly rig: Rig;
  readonly route: Route<RouteRequest>;
  /** How often the work started. */
  readonly runs: () => number;
  /** Replaces the work for the next requests. */
  readonly works: (work: TestWork) => void;
  readonly ask: (
    ask?: Ask & { readonly seller?: Seller; readonly how?: 'complete' | 'cut' | 'unread' },
  ) => Promise<Seen>;
  /** Asks for the terms and signs a payment for them. */
  readonly payment: (more?: PayOptions & { readonly for?: Ask }) => Promise<PaymentPayload>;
};

export type ShopOptions = {
  readonly route?: Partial<RouteOptions<RouteRequest>>;
  readonly seller?: Parameters<typeof createRig>[0];
};

/** Opens the shop; its work answers `sunny <run>` until told otherwise. */
export function openTestShop(options: ShopOptions = {}): TestShop {
  const rig = createRig(options.seller);
  const { parse: _parse, ...settings } = {
    method: 'GET',
    path: '/weather',
    price: '$0.01' as const,
    ...options.route,
  };
  const route = rig.seller.route(settings);
  let runs = 0;
  let work: TestWork = async () => answerOf(`sunny ${runs}`);
  const counted: TestWork = async (context) => {
    runs += 1;
    return work(context);
  };
  const ask: TestShop['ask'] = ({ seller = rig.seller, how = 'complete', ...rest } = {}) =>
    read(seller.charge(route, requestOf({ method: route.method, ...rest }), counted), how);
  return {
    rig,
    route,
    runs: () => runs,
    works: (next) => {
      work = next;
    },
    ask,
    payment: async (more = {}) => {
      const { required } = await ask(more.for);
      if (required === undefined) throw new Error('the shop did not ask for a payment');
      return rig.pay(required, more);
    },
  };
}
