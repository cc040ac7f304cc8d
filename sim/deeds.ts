/** What buyers, thieves, operators and the machinery do in one run, a deed at a time, as the seed chooses. */
import { read, requestOf } from '../lib/test/rig.ts';
import { anyShop, type Cast, knownOrNew, replaceDead, sign, targets } from './cast.ts';
import { settle } from './clock.ts';
import { present, unheard } from './counter.ts';
import { workOf } from './shop.ts';

type Deed = (cast: Cast) => void | Promise<void>;

const monthMs = 30 * 86_400_000;
/** How wrong a wall clock may be: the seller tolerates 30 s. */
const offsetsMs = {
  right: [0],
  near: [0, -25_000, 25_000],
  far: [0, -70_000, 70_000, -7_200_000, 7_200_000],
};

/** Presents a payment, sometimes twice at once, sometimes for another request than it was signed for. */
const buy: Deed = async (cast) => {
  const { stage } = cast;
  const { luck } = stage;
  const purchase = await knownOrNew(cast, 0.3);
  const target = luck.chance(0.92) ? purchase.target : luck.pick(targets);
  void present(stage, { purchase, shop: anyShop(cast), target });
  if (luck.chance(0.25)) void present(stage, { purchase, shop: anyShop(cast), target });
  await stage.clock.advance(luck.pick([0, 0, 4, 40]));
};

/** One payment at one process, again at the others once the first may have lost it, and then all wake up. */
const takeOver: Deed = async (cast) => {
  const { stage, shops } = cast;
  const { luck, clock } = stage;
  const purchase = await knownOrNew(cast, 0.6);
  const { target } = purchase;
  for (const shop of luck.chance(0.5) ? [...shops] : shops.toReversed()) {
    if (!purchase.invited) void present(stage, { purchase, shop, target });
    await clock.advance(luck.pick([100, 6_500, 7_500]));
  }
  await resume(cast);
  if (!purchase.invited) void present(stage, { purchase, shop: anyShop(cast), target });
  await settle();
};

/** Two payments, mostly for one request, the second once the first is in doubt or on its way. */
const payTwice: Deed = async (cast) => {
  const { stage } = cast;
  const { luck, clock } = stage;
  const [first, second] = [await sign(cast), await sign(cast)];
  void present(stage, { purchase: first, shop: anyShop(cast), target: first.target });
  await clock.advance(luck.pick([1, 3_000, 8_000, 50_000]));
  const target = luck.chance(0.7) ? first.target : second.target;
  void present(stage, { purchase: second, shop: anyShop(cast), target });
  await clock.advance(luck.pick([0, 1_000]));
};

/** Somebody who saw a payment's message and made a signature of its own under it. */
const steal: Deed = async (cast) => {
  const { stage } = cast;
  const [one, two] = [...stage.chain.bills.values()].sort(() => stage.luck.roll() - 0.5);
  if (one === undefined || two === undefined) return;
  const { payload } = one.payment;
  const payment = {
    ...one.payment,
    payload: { ...payload, signature: String(two.payment.payload.signature) },
  };
  const shop = anyShop(cast);
  const request = requestOf({ target: stage.luck.pick(targets), payment });
  const asked = shop.seller.charge(shop.route, request, workOf(stage, shop));
  void Promise.race([asked, shop.process.died]).then(async (delivery) => {
    const seen = delivery === undefined ? undefined : await read(unheard(delivery), 'unread');
    const named = seen?.response?.success === true || seen?.response?.payer !== undefined;
    if (seen?.status === 200 || named) stage.fault(`S2: ${one.name} was answered to a stranger`);
  });
  await settle();
};

/** Long enough for retention to forget; everything is shut meanwhile. */
export const month: Deed = async (cast) => {
  const { clock, luck } = cast.stage;
  for (const { process } of cast.shops) process.kill();
  await clock.advance(luck.pick([4_400_000, monthMs]));
  replaceDead(cast);
  await settle();
};

/** Everybody who stands still goes on. */
export const resume: Deed = async ({ shops }) => {
  for (const { process } of shops) process.resume();
  await settle();
};

/** Anybody may hand a signed authorization to the chain. */
const spendOutside: Deed = ({ stage: { chain, luck } }) => {
  const open = [...chain.bills.values()].filter((bill) => bill.landings.length === 0);
  const bill = open.length > 0 ? luck.pick(open) : undefined;
  if (bill === undefined || bill.sends > 0) return;
  bill.outside = true;
  bill.outside = chain.land(bill);
};

const reorganise: Deed = ({ stage: { chain, scenario, trace } }) => {
  const bill = scenario.reorganises ? chain.reorganise() : undefined;
  if (bill !== undefined) trace.say(() => `chain     the block of ${bill.name} vanishes`);
};

const shiftClock: Deed = ({ stage: { luck, scenario, trace }, shops }) => {
  const { process } = luck.pick(shops);
  const offsetMs = luck.pick(offsetsMs[scenario.clocks]);
  process.shift(offsetMs);
  if (offsetMs !== 0) trace.say(() => `${process.name}  its clock is off by ${offsetMs} ms`);
};

const cancel: Deed = ({ stage: { chain, luck } }) => {
  const bills = [...chain.bills.values()];
  if (bills.length > 0) chain.cancel(luck.pick(bills));
};

/** An operator deals with a payment that waits for somebody, outside of all this. */
const closeOwed: Deed = async ({ stage }) => {
  const store = stage.watched.storeOf('operator');
  const due = await store.due(10);
  if (due.length === 0) return;
  const record = stage.luck.pick(due);
  const { changed } = await store.deliver(record.key, { kind: 'closed', reference: 'ticket 1' });
  const purchase = stage.purchases.get(record.nonce);
  if (changed && purchase !== undefined) purchase.closed = true;
};

const deeds = {
  buy,
  takeOver,
  payTwice,
  steal,
  resume,
  cancel,
  spendOutside,
  reorganise,
  shiftClock,
  closeOwed,
  wait: ({ stage: { clock, luck } }) => clock.advance(luck.pick([50, 900, 3_000, 7_500, 13_000])),
  sleep: ({ stage: { clock, luck } }) => clock.advance(luck.pick([37_000, 130_000, 400_000])),
  pause: ({ stage: { luck }, shops }) => luck.pick(shops).process.pause(),
  kill: ({ stage: { luck }, shops }) => luck.pick(shops).process.kill(),
  storeDown: ({ stage }) => stage.storeDown(stage.luck.pick([500, 3_000, 20_000])),
  hide: ({ stage: { chain, luck } }) => chain.show(luck.chance(0.5)),
  prune: async ({ stage: { watched } }) => void (await watched.storeOf('janitor').prune(10)),
} as const satisfies Readonly<Record<string, Deed>>;

/** How often each is done, beside the others. */
const weights: Readonly<Record<keyof typeof deeds, number>> = {
  buy: 12,
  takeOver: 6,
  wait: 6,
  resume: 3,
  payTwice: 2,
  hide: 2,
  reorganise: 2,
  steal: 1,
  sleep: 1,
  pause: 1,
  kill: 1,
  storeDown: 1,
  cancel: 1,
  spendOutside: 1,
  shiftClock: 1,
  prune: 1,
  closeOwed: 1,
};

/** Does one deed. */
export async function doDeed(cast: Cast): Promise<void> {
  const { luck, trace } = cast.stage;
  replaceDead(cast);
  const deed = luck.weigh(weights);
  trace.say(() => `deed      ${deed}`);
  await deeds[deed](cast);
}
