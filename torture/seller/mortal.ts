/** A store, a facilitator and a seller that pass the points of a payment, at each of which an order may wait. */
import type { ClaimStore } from 'counterfoil/claim';
import type { Delivery, Seller } from 'counterfoil/seller';
import type { Facilitator } from 'counterfoil/settlement';
import type { Point } from '../round/point.ts';

/** Passes a point: comes back at once as a rule, later where the order is to halt, and never where it is to die. */
export type Reach = (point: Point, payment: string) => Promise<void>;

/** A store after whose answers a process may end. */
export function mortalStore(real: ClaimStore, reach: Reach): ClaimStore {
  return {
    ...real,
    take: async (request) => {
      const outcome = await real.take(request);
      if (outcome.kind !== 'taken') return outcome;
      // What has moved already is claimed for its work alone.
      const point = outcome.record.money.state === 'settled' ? 'started' : 'claimed';
      await reach(point, outcome.record.key);
      return outcome;
    },
    keepAndBeginSend: async (hold, send) => {
      const outcome = await real.keepAndBeginSend(hold, send);
      if (outcome.kind === 'held') await reach('kept', hold.key);
      return outcome;
    },
    recordMoney: async (key, fact) => {
      const outcome = await real.recordMoney(key, fact);
      if (outcome.changed && outcome.record?.money.state === 'settled') await reach('recorded', key);
      return outcome;
    },
    startWork: async (hold, leaseMs) => {
      const outcome = await real.startWork(hold, leaseMs);
      if (outcome.kind === 'held') await reach('started', hold.key);
      return outcome;
    },
    finish: async (hold, result) => {
      const outcome = await real.finish(hold, result);
      if (outcome.kind === 'held') await reach('kept', hold.key);
      return outcome;
    },
  };
}

/** A facilitator during whose calls a process may end. */
export function mortalFacilitator(real: Facilitator, reach: Reach): Facilitator {
  return {
    ...real,
    settle: async (question) => {
      const nonce = nonceOf(question.payment);
      const asked = real.settle(question);
      await reach('sent', nonce);
      const answer = await asked;
      await reach('answered', nonce);
      return answer;
    },
  };
}

/** A seller whose paid answers may not leave. */
export function mortalSeller(real: Pick<Seller, 'charge'>, reach: Reach): Pick<Seller, 'charge'> {
  return {
    charge: async (route, request, work) => {
      const header = request.headers.find(([name]) => name === 'payment-signature')?.[1] ?? '';
      const delivery = await real.charge(route, request, work);
      return delivery.answer.status === 200 ? mortalDelivery(delivery, header, reach) : delivery;
    },
  };
}

async function mortalDelivery(real: Delivery, header: string, reach: Reach): Promise<Delivery> {
  await reach('ready', header);
  return {
    answer: real.answer,
    written: async (how) => {
      if (how === 'complete') await reach('written', header);
      await real.written(how);
      if (how === 'complete') await reach('noted', header);
    },
  };
}

/** The nonce of the authorization that is settled; an empty text, which no order is about, where there is none. */
function nonceOf(payment: unknown): string {
  const nonce = memberOf(memberOf(memberOf(payment, 'payload'), 'authorization'), 'nonce');
  return typeof nonce === 'string' ? nonce : '';
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
