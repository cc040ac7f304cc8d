/** One process of the shop: a seller with its route, behind calls that fail, halt, die or take their time. */
import { createSeller, type Seller, type SellerOptions } from '../lib/src/seller/index.ts';
import type { Answer, WorkContext } from '../lib/src/seller/message.ts';
import type { Route, RouteRequest } from '../lib/src/seller/route.ts';
import { answerOf, network } from '../lib/test/rig.ts';
import { createProcess, type Fate, type Process, type Route as Road } from './process.ts';
import type { Flow } from './scenario.ts';
import type { Stage } from './stage.ts';

export type Shop = {
  readonly process: Process;
  readonly seller: Seller;
  readonly route: Route<RouteRequest>;
  readonly flow: Flow;
};

/** Runs of a handler, by idempotency key. */
export type Run = { readonly shop: Process; readonly signal: AbortSignal; over: boolean };

const attempts = 2;
/** Short beside the limits of calls, so that a process that halts loses its claim to another one soon. */
export const lease = { leaseMs: 6_000, heartbeatMs: 1_500, marginMs: 1_000, graceMs: 1_000 } as const;

/** Of a hundred calls, these do not go as asked. */
const fates: Readonly<Record<Fate, number>> = {
  ok: 94,
  fails_before: 1,
  fails_after: 1,
  halts_before: 1,
  halts_after: 1,
  dies_before: 1,
  dies_after: 1,
  late_before: 0,
  late_after: 0,
};
/** The same for the calls that claim, send, conclude or give back. */
const fatefulFates: Readonly<Record<Fate, number>> = {
  ok: 76,
  fails_before: 2,
  fails_after: 2,
  halts_before: 6,
  halts_after: 6,
  dies_before: 2,
  dies_after: 3,
  late_before: 1,
  late_after: 2,
};
const downFates: Readonly<Record<Fate, number>> = {
  ok: 0,
  fails_before: 6,
  fails_after: 2,
  halts_before: 0,
  halts_after: 0,
  dies_before: 0,
  dies_after: 0,
  late_before: 0,
  late_after: 1,
};
const callFates: Readonly<Record<Fate, number>> = {
  ...downFates,
  ok: 84,
  fails_before: 0,
  fails_after: 0,
  late_after: 0,
  halts_before: 6,
  halts_after: 6,
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
const travels = [0, 0, 0, 0, 0, 1, 2, 15];

/** Opens the shop at a place; it takes over nothing from the one that died there. */
export function openShop(stage: Stage, place: number, boot: number): Shop {
  const { scenario, world, clock, watched, market, chain } = stage;
  const process = createProcess(`shop ${place + 1}.${boot}`, world, clock);
  const { name } = process;
  const store: Road = {
    fate: (method) => storeFate(stage, name, method),
    travelMs: () => (stage.calm() ? 0 : stage.luck.pick(travels)),
  };
  const fate = (method: string): Fate => {
    const lot = stage.calm() ? 'ok' : stage.luck.weigh(callFates);
    if (lot !== 'ok') stage.trace.say(() => `${name}  ${method} ${lot}`);
    return lot;
  };
  const still = { travelMs: () => 0 };
  const options: SellerOptions = {
    ...stage.options,
    lease,
    world: process.world,
    store: process.reach(watched.storeOf(name), store),
    facilitator: process.reach(market.facilitator, { ...still, fate }),
    chains: { [network]: process.reach(chain.reader, { ...still, fate: () => 'ok' }) },
  };
  const seller = createSeller(options);
  const flow = flowAt(scenario.flow, place);
  const route = seller.route({
    method: 'GET',
    path: '/weather',
    price: '$0.01',
    flow,
    attempts,
    binding: scenario.binding,
  });
  // Also starts its background; a facilitator that cannot be asked at once is asked again by each request.
  seller.ready().catch(() => {});
  return { process, seller, route, flow };
}

function flowAt(flow: Flow | 'mixed', place: number): Flow {
  if (flow !== 'mixed') return flow;
  return place % 2 === 0 ? 'authorization' : 'upfront';
}

function storeFate(stage: Stage, name: string, method: string): Fate {
  const { luck, trace, clock } = stage;
  if (stage.calm()) return 'ok';
  const down = clock.nowMs() < stage.storeDownUntilMs();
  const drawn = luck.weigh(down ? downFates : fateful.has(method) ? fatefulFates : fates);
  const lot = drawn === 'halts_after' && deciding.has(method) ? 'ok' : drawn;
  if (lot !== 'ok') trace.say(() => `${name}  ${method} ${lot}`);
  return lot;
}

/** The work of a shop: it names its buyer, the request and the payment, so that a wrong answer can be told. */
export function workOf(
  stage: Stage,
  { process }: Shop,
): (context: WorkContext<RouteRequest>) => Promise<Answer> {
  const { luck, trace } = stage;
  return async ({ idempotencyKey, signal, request, payer }) => {
    const nonce = idempotencyKey.slice(idempotencyKey.lastIndexOf('/') + 1, idempotencyKey.lastIndexOf('#'));
    const run: Run = { shop: process, signal, over: false };
    stage.noteRun({ idempotencyKey, nonce, run });
    const lot = stage.calm() ? 'quick' : luck.weigh({ quick: 5, slow: 3, stuck: 1, broken: 2 });
    trace.say(() => `${process.name}  works for ${stage.nameOf(nonce)}, ${lot}`);
    try {
      const ms = { quick: 0, slow: luck.pick([800, 9_000, 28_000]), stuck: 70_000, broken: 0 }[lot];
      if (ms > 0) await new Promise<void>((resolve) => process.world.after(ms, resolve));
      await process.alive();
      if (lot === 'broken') return answerOf('broken', 500);
      return answerOf([payer, request.url.slice(request.url.indexOf('/weather')), nonce].join(' '));
    } finally {
      run.over = true;
    }
  };
}
