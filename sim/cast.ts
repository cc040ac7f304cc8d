/** Who is on the stage of one run: the shops as they stand now, and the buyers with what they have signed. */
import { signExactEvm } from '../lib/src/payment/index.ts';
import type { PaymentRequired } from '../lib/src/wire/v2.ts';
import { buyerOf, read, requestOf } from '../lib/test/rig.ts';
import { settle } from './clock.ts';
import { newPurchase, type Purchase } from './purchase.ts';
import type { Flow } from './scenario.ts';
import { openShop, type Shop, workOf } from './shop.ts';
import type { Stage } from './stage.ts';

export type Cast = {
  readonly stage: Stage;
  /** By place; who died is replaced before the next deed. */
  readonly shops: Shop[];
  readonly terms: Map<Flow, PaymentRequired>;
  /** Processes started, and names given to purchases, so far. */
  boots: number;
  names: number;
};

/** Three cities, so that most payments have a request of their own, and some have twins. */
export const targets: readonly string[] = ['/weather?city=Lima', '/weather?city=Oslo', '/weather?city=Rome'];
const buyers = [buyerOf(0x11), buyerOf(0x22)];

/** Opens the shops, while nothing fails, and asks for their terms. */
export async function openShops(stage: Stage): Promise<Cast> {
  const cast: Cast = { stage, shops: [], terms: new Map(), boots: 0, names: 0 };
  for (let place = 0; place < stage.scenario.processes; place += 1) cast.shops.push(boot(cast, place));
  await settle();
  for (const shop of cast.shops) {
    const { required } = await read(shop.seller.charge(shop.route, requestOf(), workOf(stage, shop)));
    if (required !== undefined) cast.terms.set(shop.flow, required);
  }
  stage.begin();
  return cast;
}

function boot(cast: Cast, place: number): Shop {
  cast.boots += 1;
  return openShop(cast.stage, place, cast.boots);
}

export function replaceDead(cast: Cast): void {
  for (const [place, { process }] of cast.shops.entries()) {
    if (process.state() !== 'dead') continue;
    cast.stage.tally.died += 1;
    cast.shops[place] = boot(cast, place);
  }
}

/** Mostly one that answers. */
export function anyShop({ stage: { luck }, shops }: Cast): Shop {
  const up = shops.filter(({ process }) => process.state() === 'up');
  return luck.pick(up.length > 0 && luck.chance(0.9) ? up : shops);
}

/** A buyer signs for what one of the shops asks. */
export async function sign(cast: Cast): Promise<Purchase> {
  const { stage, shops, terms } = cast;
  const { luck, clock, chain, trace } = stage;
  const asked = terms.get(luck.pick(shops).flow);
  if (asked === undefined) throw new Error('the shop has not said its terms');
  const target = luck.pick(targets);
  const id = nameFor(cast);
  const payment = await signExactEvm({
    requirement: luck.pick(asked.accepts),
    signer: luck.pick(buyers),
    nowMs: clock.nowMs(),
    random: luck.bytes,
    resource: { url: asked.resource.url.replace('/weather', target) },
    ...(id === undefined ? {} : { extensions: { 'payment-identifier': { info: { id } } } }),
  });
  const bill = chain.enter(payment, id);
  const purchase = newPurchase(bill, target, clock.nowMs());
  stage.purchases.set(bill.nonce, purchase);
  trace.say(() => `buyer     signs ${bill.name} for ${target}${id === undefined ? '' : ` as ${id}`}`);
  return purchase;
}

/** Some purchases have a name, and some names are used again. */
function nameFor(cast: Cast): string | undefined {
  const { luck, scenario } = cast.stage;
  if (!scenario.names || luck.chance(0.4)) return undefined;
  if (cast.names === 0 || luck.chance(0.5)) cast.names += 1;
  return `purchase-number-${cast.names}`;
}

/** A payment that its buyer still counts on, or with this probability a new one. */
export async function knownOrNew(cast: Cast, probability: number): Promise<Purchase> {
  const known = [...cast.stage.purchases.values()].filter(({ invited }) => !invited);
  const { luck } = cast.stage;
  return known.length === 0 || luck.chance(probability) ? sign(cast) : luck.pick(known);
}
