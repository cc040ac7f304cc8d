/**
 * One run of the simulation: a few processes of one shop over one store, buyers who present payments as they like, and
 * a world that fails. Whatever a buyer is told is held against what truly happened; `faults` says what was not so.
 */
import { createSeller, type Seller, type SellerOptions } from '../src/seller/index.ts';
import type { Delivery, WorkContext } from '../src/seller/message.ts';
import type { Route, RouteRequest } from '../src/seller/route.ts';
import { createMemoryStore } from '../src/stores/memory.ts';
import type { PaymentRequired } from '../src/wire/v2.ts';
import type { World } from '../src/world.ts';
import { createLuck, type Luck } from './luck.ts';
import { type Bill, createMarket, type Market } from './market.ts';
import { createProcess, type Fate, type Process } from './process.ts';
import { answerOf, buyerOf, createRig, network, type Rig, read, requestOf, rest, type Seen } from './rig.ts';

export type Settings = {
  readonly seed: number;
  readonly lies: boolean;
  /** Each process its own flow, as in the middle of a deployment. */
  readonly mixedFlows: boolean;
  /** Hears what happens, to look at one seed again. */
  readonly trace?: (line: string) => void;
};

/** A payment as its buyer sees it. */
export type Purchase = {
  readonly bill: Bill;
  /** What its buyer wants with it. */
  readonly target: string;
  /** What its record says that it buys, where there is one in the end. */
  bought: string | undefined;
  readonly firstAskedMs: number;
  inFlight: number;
  /** Told in so many words that a new payment is wanted; an honest buyer never shows this one again. */
  invited: boolean;
  /** The same, while no copy of it was on its way anywhere. */
  buried: boolean;
  /** When it was first called unknown. */
  doubtedMs: number | undefined;
  /** When an answer that it bought was first written out whole, to whichever payment. */
  deliveredMs: number | undefined;
};

type Shopfront = {
  readonly process: Process;
  readonly seller: Seller;
  readonly route: Route<RouteRequest>;
  readonly flow: 'authorization' | 'upfront';
};

type Run = { readonly shop: Shopfront; readonly signal: AbortSignal; over: boolean };

export type Trial = {
  readonly settings: Settings;
  readonly luck: Luck;
  readonly rig: Rig;
  readonly market: Market;
  readonly purchases: Map<string, Purchase>;
  readonly faults: string[];
  readonly tally: { asked: number; ran: number; served: number; died: number };
};

const targets = ['/weather?city=Lima', '/weather?city=Oslo'];
const attempts = 2;
/** Of a hundred calls, these do not go as asked. */
const fates: Readonly<Record<Fate, number>> = {
  ok: 95,
  fails_before: 1,
  fails_after: 1,
  halts_before: 1,
  halts_after: 1,
  dies_before: 0,
  dies_after: 1,
};
/** The same for the calls that claim, send, conclude or give back. */
const fatefulFates: Readonly<Record<Fate, number>> = {
  ok: 78,
  fails_before: 2,
  fails_after: 2,
  halts_before: 7,
  halts_after: 7,
  dies_before: 2,
  dies_after: 2,
};
const fateful: ReadonlySet<string> = new Set([
  'take',
  'keepAndBeginSend',
  'beginSend',
  'recordMoney',
  'startWork',
  'finish',
  'fail',
  'release',
]);
/**
 * After these a refusal may be decided. A process that halts between that and its answer says what was so, while a
 * copy that was shown elsewhere meanwhile makes it untrue; no store can help that, so it is not held against anybody.
 */
const deciding: ReadonlySet<string> = new Set(['find', 'release', 'fail']);
const callFates = { ok: 86, halts_before: 7, halts_after: 7 } as const;
/** Short beside the limits of calls, so that a process that halts loses its claim to another one soon. */
const lease = { leaseMs: 6_000, heartbeatMs: 1_500, marginMs: 1_000, graceMs: 1_000 };

/** Plays one run to its end and returns what was seen. */
export async function playTrial(settings: Settings): Promise<Trial> {
  const luck = createLuck(settings.seed);
  const rig = createRig();
  const purchases = new Map<string, Purchase>();
  const faults: string[] = [];
  const market = createMarket({
    clock: rig.clock,
    luck,
    lies: settings.lies,
    onLanded: (bill) => {
      const purchase = purchases.get(bill.nonce);
      if (purchase?.buried === true && !bill.lied)
        faults.push(`I3: ${bill.nonce} landed after an invitation`);
    },
  });
  const tally = { asked: 0, ran: 0, served: 0, died: 0 };
  const trial: Trial = { settings, luck, rig, market, purchases, faults, tally };
  const stage = createStage(trial);
  await stage.open();
  const steps = 10 + Math.floor(luck.roll() * 25);
  for (let step = 0; step < steps; step += 1) await stage.step();
  await stage.close();
  return trial;
}

type Stage = {
  readonly open: () => Promise<void>;
  readonly step: () => Promise<void>;
  readonly close: () => Promise<void>;
};

function createStage(trial: Trial): Stage {
  const { luck, rig, market } = trial;
  const world: World = { ...rig.world, random: luck.bytes };
  const store = createMemoryStore({ world });
  const runs = new Map<string, Run>();
  const shops: Shopfront[] = [];
  const terms = new Map<string, PaymentRequired>();
  const buyers = luck.chance(0.5) ? [buyerOf(0x11)] : [buyerOf(0x11), buyerOf(0x22)];
  const wanted = luck.chance(0.5) ? targets.slice(0, 1) : targets;
  const firstFlow = luck.pick(['authorization', 'upfront'] as const);
  const flowOf = (place: number): Shopfront['flow'] =>
    trial.settings.mixedFlows && place === 1 ? other(firstFlow) : firstFlow;
  // Without binding every wrong request reaches the store, which then is all that keeps it out.
  const binding = luck.pick(['off', 'echoed'] as const);
  let calm = false;
  const startMs = rig.clock.nowMs();
  const say = (line: string): void => trial.settings.trace?.(`${rig.clock.nowMs() - startMs} ${line}`);

  const openShop = (place: number): Shopfront => {
    // The clocks of a shop's machines differ, by less than windows tolerate.
    const skewMs = luck.pick([0, 0, -20_000, 20_000]);
    const process = createProcess({ ...world, nowMs: () => world.nowMs() + skewMs });
    const fate = (method: string): Fate => {
      if (calm) return 'ok';
      const lot = luck.weigh(fateful.has(method) ? fatefulFates : fates);
      say(`  ${place} ${method} ${lot}`);
      return lot === 'halts_after' && deciding.has(method) ? 'ok' : lot;
    };
    const options: SellerOptions = {
      ...rig.options,
      lease,
      world: process.world,
      store: process.reach(store, fate),
      facilitator: process.reach(market.facilitator, () => (calm ? 'ok' : luck.weigh(callFates))),
      chains: { [network]: process.reach(market.chain, () => 'ok') },
    };
    const seller = createSeller(options);
    const flow = flowOf(place);
    const route = seller.route({ method: 'GET', path: '/weather', price: '$0.01', flow, attempts, binding });
    return { process, seller, route, flow };
  };

  const work = (shop: Shopfront) => async (context: WorkContext<RouteRequest>) => {
    const { idempotencyKey, signal, request, payer } = context;
    const nonce = idempotencyKey.slice(idempotencyKey.lastIndexOf('/') + 1, idempotencyKey.lastIndexOf('#'));
    noteRun(trial, runs, { idempotencyKey, nonce, run: { shop, signal, over: false } });
    const lot = calm ? 'quick' : luck.weigh({ quick: 5, slow: 3, stuck: 1, broken: 2 });
    const run = runs.get(idempotencyKey);
    try {
      const ms = { quick: 0, slow: luck.pick([800, 9_000, 28_000]), stuck: 70_000, broken: 0 }[lot];
      if (ms > 0) await new Promise<void>((resolve) => shop.process.world.after(ms, resolve));
      await shop.process.alive();
      if (lot === 'broken') return answerOf('broken', 500);
      return answerOf([payer, request.url.slice(request.url.indexOf('/weather')), nonce].join(' '));
    } finally {
      if (run !== undefined) run.over = true;
    }
  };

  const present = async (purchase: Purchase, shop: Shopfront, target: string): Promise<Seen | undefined> => {
    trial.tally.asked += 1;
    const visit = trial.tally.asked;
    say(`#${visit} ${short(purchase.bill)} ${target} at ${shops.indexOf(shop)} (${shop.flow})`);
    purchase.inFlight += 1;
    const startedMs = rig.clock.nowMs();
    const request = requestOf({ target, payment: purchase.bill.payment });
    const answered = shop.seller.charge(shop.route, request, work(shop));
    const delivery = await Promise.race([answered, shop.process.died]);
    purchase.inFlight -= 1;
    if (delivery === undefined) return undefined;
    const seen = await read(unheard(delivery), 'unread');
    say(`#${visit} ${short(purchase.bill)} -> ${seen.status} ${seen.problem.code} ${seen.text.slice(0, 20)}`);
    holdAgainst(trial, { purchase, seen, target, startedMs });
    const how = calm || luck.chance(0.7) ? 'complete' : 'cut';
    if (seen.status === 200 && how === 'complete') noteDelivery(trial, seen.text);
    await Promise.race([delivery.written(how), shop.process.died]);
    return seen;
  };

  const sign = async (): Promise<Purchase> => {
    const shop = luck.pick(shops);
    const target = luck.pick(wanted);
    const asked = terms.get(shop.flow);
    if (asked === undefined) throw new Error('the shop has not said its terms');
    const required = { ...asked, resource: { url: asked.resource.url.replace('/weather', target) } };
    const bill = market.enter(await rig.pay(required, { buyer: luck.pick(buyers), nonce: luck.bytes(32) }));
    const purchase: Purchase = {
      bill,
      target,
      bought: undefined,
      firstAskedMs: rig.clock.nowMs(),
      inFlight: 0,
      invited: false,
      buried: false,
      doubtedMs: undefined,
      deliveredMs: undefined,
    };
    trial.purchases.set(bill.nonce, purchase);
    return purchase;
  };

  /** Mostly one that answers. */
  const anyShop = (): Shopfront => {
    const up = shops.filter(({ process }) => process.state() === 'up');
    return luck.pick(up.length > 0 && luck.chance(0.9) ? up : shops);
  };

  const buy = async (): Promise<void> => {
    const known = [...trial.purchases.values()].filter(({ invited }) => !invited);
    const purchase = known.length === 0 || luck.chance(0.25) ? await sign() : luck.pick(known);
    const target = luck.chance(0.92) ? purchase.target : luck.pick(targets);
    void present(purchase, anyShop(), target);
    if (luck.chance(0.2)) void present(purchase, anyShop(), target);
    await rest();
  };

  /** One payment at one process, again at another once the first may have lost it, and then all wake up. */
  const takeOver = async (): Promise<void> => {
    const known = [...trial.purchases.values()].filter(({ invited }) => !invited);
    const purchase = known.length === 0 || luck.chance(0.6) ? await sign() : luck.pick(known);
    for (const shop of luck.chance(0.5) ? shops : shops.toReversed()) {
      if (!purchase.invited) void present(purchase, shop, purchase.target);
      await rest();
      await rig.clock.advance(luck.pick([100, 7_500, 7_500]));
    }
    await deeds.resume();
    if (!purchase.invited) void present(purchase, anyShop(), purchase.target);
    await rest();
  };

  /** Somebody who saw a payment's message and made a signature of its own under it. */
  const steal = async (): Promise<void> => {
    const [one, two] = [...market.bills.values()].sort(() => luck.roll() - 0.5);
    if (one === undefined || two === undefined) return;
    const { payload } = one.payment;
    const signature = String(two.payment.payload.signature);
    const payment = { ...one.payment, payload: { ...payload, signature } };
    const shop = anyShop();
    const target = luck.pick(targets);
    const asked = shop.seller.charge(shop.route, requestOf({ target, payment }), work(shop));
    void Promise.race([asked, shop.process.died]).then(async (delivery) => {
      const seen = delivery === undefined ? undefined : await read(unheard(delivery), 'unread');
      const named = seen?.response?.success === true || seen?.response?.payer !== undefined;
      if (seen?.status === 200 || named) trial.faults.push(`S2: ${one.nonce} was answered to a stranger`);
    });
    await rest();
  };

  const deeds = {
    buy,
    steal,
    takeOver,
    wait: () => rig.clock.advance(luck.pick([50, 900, 3_000, 7_500, 13_000])),
    sleep: () => rig.clock.advance(luck.pick([37_000, 130_000, 400_000, 4_400_000])),
    pause: async () => luck.pick(shops).process.pause(),
    resume: async () => {
      for (const { process } of shops) process.resume();
      await rest();
    },
    kill: async () => luck.pick(shops).process.kill(),
    hide: async () => market.show(luck.chance(0.5)),
    cancel: async () => {
      const bills = [...market.bills.values()];
      if (bills.length > 0) market.cancel(luck.pick(bills));
    },
    prune: async () => void (await store.prune(10)),
  } as const;

  const replaceDead = (): void => {
    for (const [place, shop] of shops.entries()) {
      if (shop.process.state() !== 'dead') continue;
      trial.tally.died += 1;
      shops[place] = openShop(place);
    }
  };

  return {
    open: async () => {
      calm = true;
      shops.push(openShop(0), openShop(1));
      for (const shop of shops) {
        const { required } = await read(shop.seller.charge(shop.route, requestOf(), work(shop)));
        if (required !== undefined) terms.set(shop.flow, required);
      }
      calm = false;
    },
    step: async () => {
      replaceDead();
      const deed = luck.weigh({
        buy: 12,
        steal: 1,
        takeOver: 6,
        wait: 6,
        sleep: 1,
        pause: 1,
        resume: 3,
        kill: 1,
        hide: 2,
        cancel: 1,
        prune: 1,
      });
      say(deed);
      await deeds[deed]();
    },
    close: async () => {
      calm = true;
      market.calm();
      // Twice, for those who halt or die of what began before the calm.
      for (const ms of [100_000, 400_000]) {
        await deeds.resume();
        replaceDead();
        await rig.clock.advance(ms);
      }
      for (const { nonce, resourceUrl } of await store.list({ limit: 1_000 })) {
        const purchase = trial.purchases.get(nonce);
        if (purchase !== undefined) purchase.bought = resourceUrl.slice(resourceUrl.indexOf('/weather'));
      }
      for (const purchase of trial.purchases.values()) await settleUp(purchase);
      checkCharges(trial);
    },
  };

  /** Everything is well again: whoever paid gets what was paid for, or its payment stands where an operator looks. */
  async function settleUp(purchase: Purchase): Promise<void> {
    const { bill } = purchase;
    const owed = bill.landed !== undefined && purchase.deliveredMs === undefined && !bill.lied;
    for (const shop of shops) {
      const asked = present(purchase, shop, purchase.bought ?? purchase.target);
      await rest();
      await rig.clock.advance(4_000);
      const seen = await asked;
      if (seen?.problem.code === 'payment_in_progress')
        trial.faults.push(`${bill.nonce} is in progress for ever`);
    }
    if (!owed || purchase.deliveredMs !== undefined) return;
    const due = await store.due(1_000);
    if (!due.some(({ nonce }) => nonce === bill.nonce))
      trial.faults.push(`S4, I4: ${bill.nonce} was paid and is lost`);
  }
}

function short(bill: Bill): string {
  return bill.nonce.slice(2, 6);
}

function other(flow: Shopfront['flow']): Shopfront['flow'] {
  return flow === 'upfront' ? 'authorization' : 'upfront';
}

/** The delivery, read before its writing is reported. */
async function unheard(delivery: Delivery): Promise<Delivery> {
  return { ...delivery, written: async () => {} };
}

/** S1, I1: one key of a run starts once, and never beside another that may still count. */
function noteRun(
  trial: Trial,
  runs: Map<string, Run>,
  at: { readonly idempotencyKey: string; readonly nonce: string; readonly run: Run },
): void {
  const { idempotencyKey, nonce, run } = at;
  const { faults, market, tally } = trial;
  tally.ran += 1;
  if (runs.has(idempotencyKey)) faults.push(`S1: ${idempotencyKey} ran twice`);
  const attempt = Number(idempotencyKey.slice(idempotencyKey.lastIndexOf('#') + 1));
  if (attempt > attempts) faults.push(`S1: ${idempotencyKey} is one attempt too many`);
  for (const [key, beside] of runs) {
    const same =
      key.slice(0, key.lastIndexOf('#')) === idempotencyKey.slice(0, idempotencyKey.lastIndexOf('#'));
    const counts = !beside.over && !beside.signal.aborted && beside.shop.process.state() === 'up';
    if (same && counts) faults.push(`I1: ${idempotencyKey} started while ${key} ran`);
  }
  runs.set(idempotencyKey, run);
  const bill = market.bills.get(nonce);
  if (
    run.shop.flow === 'upfront' &&
    !trial.settings.mixedFlows &&
    bill?.landed === undefined &&
    bill?.lied === false
  )
    faults.push(`I2: upfront, ${idempotencyKey} ran unpaid`);
}

/** What one answer says, against what is so. */
function holdAgainst(
  trial: Trial,
  at: {
    readonly purchase: Purchase;
    readonly seen: Seen;
    readonly target: string;
    readonly startedMs: number;
  },
): void {
  const { purchase, seen, target, startedMs } = at;
  const { bill } = purchase;
  const { faults, rig, tally } = trial;
  const fault = (words: string): number =>
    faults.push(
      `${words}: ${bill.nonce} was told ${seen.status} ${seen.problem.code || seen.header('counterfoil-payment')}`,
    );
  const landedBefore = bill.landed !== undefined && bill.landed.atMs < startedMs;
  const money = seen.problem.money || /money=(\w+)/.exec(seen.header('counterfoil-payment') ?? '')?.[1];
  if (bill.lied) return;
  if (money === 'unmoved' && landedBefore) fault('unmoved is wrong');
  if (money === 'moved' && bill.landed === undefined && bill.canceledAtMs === undefined)
    fault('moved is wrong');
  if (seen.problem.code === 'settlement_unknown') purchase.doubtedMs ??= rig.clock.nowMs();
  if (seen.required !== undefined || (seen.status === 402 && seen.problem.retry === 'new_payment')) {
    if (landedBefore) fault('I3');
    purchase.invited = true;
    if (purchase.inFlight === 0) purchase.buried = true;
  }
  if (seen.problem.code === 'internal_error') fault('an exception');
  if (seen.status !== 200) return;
  tally.served += 1;
  const [payer, bought, nonce = ''] = seen.text.split(' ');
  const paid = trial.market.bills.get(nonce);
  if (payer !== bill.payer) fault('somebody else’s answer');
  if (bought !== target) fault('S2: another request’s answer');
  if (paid === undefined || (paid.landed === undefined && !paid.lied)) fault('I2: served before it was paid');
  if (nonce !== bill.nonce && !/served_by_earlier_payment/.test(seen.header('counterfoil-payment') ?? ''))
    fault('S2: another payment’s answer');
}

function noteDelivery(trial: Trial, text: string): void {
  const purchase = trial.purchases.get(text.split(' ')[2] ?? '');
  if (purchase !== undefined) purchase.deliveredMs ??= trial.rig.clock.nowMs();
}

/** S3: who was told that a payment is unknown, and pays anew for the same, is not charged a second time for it. */
function checkCharges(trial: Trial): void {
  const all = [...trial.purchases.values()].filter(({ bill }) => bill.landed !== undefined && !bill.lied);
  for (const one of all) {
    for (const two of all) {
      const twins = one !== two && one.bill.payer === two.bill.payer && one.bought === two.bought;
      if (
        !twins ||
        one.bought === undefined ||
        one.doubtedMs === undefined ||
        one.doubtedMs > two.firstAskedMs
      )
        continue;
      if (one.doubtedMs === two.firstAskedMs) continue;
      const sentMs = two.bill.firstSentMs ?? 0;
      if (one.deliveredMs === undefined || one.deliveredMs > sentMs)
        trial.faults.push(`S3: ${one.bill.nonce} was in doubt and ${two.bill.nonce} was charged as well`);
    }
  }
}
