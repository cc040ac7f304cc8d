/**
 * Real sellers on each shared store, in each flow: killed at every point, lied to in every way, asked by fifty copies at
 * once, and cut off from their database. `npm run torture` does the same at length.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attempts } from './command/lane.ts';
import { type Ground, layGround, shortTiming, type Yard } from './fleet/ground.ts';
import { openFrail, serverKinds } from './fleet/house.ts';
import { playCopies } from './round/copies.ts';
import { playKills } from './round/kill.ts';
import { momentsOf, playOutage } from './round/outage.ts';
import { lostAnswers, type Plan, planFault, planRound } from './round/plan.ts';
import { chargesOf, openScene, type Result, untilServed } from './round/play.ts';
import { type Flow, flows, type Point, pointsOf, pointText } from './round/point.ts';
import type { StoreKind } from './seller/store.ts';

/** The same in every run; `npm run torture` draws new ones. */
const seed = 4_000;
const stores = ['sqlite', 'redis', 'postgres'] as const;
/** Sellers of the fleet that is also asked by many copies, and of the others. */
const sellers: Readonly<Record<Flow, number>> = { authorization: 4, upfront: 2 };
const copiesRounds = 4;

/** A broken promise is shown with the whole history of its round. */
function assertHeld({ violations, history }: Result): void {
  assert.deepEqual(violations, [], ['', ...violations, ...history].join('\n'));
}

describe('a fleet of real sellers', { concurrency: 8 }, () => {
  let ground: Ground;
  before(async () => {
    ground = await layGround();
  });
  after(() => ground.close());

  for (const store of stores) {
    for (const flow of flows) {
      describe(`${flow} on ${store}`, { concurrency: 1 }, () => {
        let yard: Yard;
        let buyer = 0;
        const processes = { least: 2, most: sellers[flow] };
        before(async () => {
          const place = await ground.house.place(store);
          yard = await ground.openYard({ place, size: processes.most, timing: shortTiming, attempts });
          buyer = ground.hireBuyers(1)[0] ?? 0;
        });
        after(() => yard.close());

        for (const point of pointsOf[flow]) {
          test(`C04: ${store}, ${flow}, killed ${pointText[point]}: the same payment is served and charged once`, async () => {
            const result = await playKills(yard, killAt(point, { store, flow, processes }), buyer);
            assertHeld(result);
            assert.equal(result.kills, 1);
            assert.deepEqual(result.points.slice(0, 1), [point]);
          });
        }

        test(`C10: ${store}, ${flow}, a seller that stands still past its lease comes back to find its payment served, and takes nothing`, async () => {
          const stalls = flow === 'authorization' ? (['working', 'kept'] as const) : (['started'] as const);
          for (const point of stalls) {
            const plan = killAt(point, { store, flow, processes });
            const result = await playKills(yard, stalled(plan, point), buyer);
            assertHeld(result);
            assert.equal(result.stalls, 1);
          }
        });

        test(`S10: ${store}, ${flow}, a buyer who leaves in the middle of the work finds one answer, for one price, wherever it comes back`, async () => {
          const plan = planFault({ seed, store, flow, processes });
          const [first] = plan.copies;
          assert.ok(first);
          const copies = [{ ...first, leavesMs: 60 }];
          const result = await playKills(yard, { ...plan, settle: 'pass', workMs: 150, copies }, buyer);
          assertHeld(result);
          assert.deepEqual([result.runs, result.charges], [1, 1]);
        });

        test(`S04: ${store}, ${flow}, whatever becomes of a settle's answer, the buyer pays once and is served by one execution`, async () => {
          for (const [at, fault] of lostAnswers.entries()) {
            const plan = planFault({ seed: firstFault(seed) + at, store, flow, processes });
            assert.equal(plan.settle, fault);
            const result = await playKills(yard, plan, buyer);
            assertHeld(result);
            assert.deepEqual([fault, result.charges], [fault, 1]);
          }
        });

        if (sellers[flow] < 4) return;
        test(`C02: ${store}, fifty copies at four sellers start one execution and one settle, and nobody is asked to pay again`, async () => {
          for (let round = 0; round < copiesRounds; round += 1) {
            const either = flows[round % flows.length] ?? flow;
            const result = await playCopies(yard, { seed: seed + round, flow: either, buyer, copies: 50 });
            assertHeld(result);
            assert.deepEqual([result.runs, result.charges], [1, 1]);
            assert.ok(result.copies >= 50);
          }
        });
      });
    }
  }

  for (const kind of serverKinds) {
    test(`C10: ${kind}, its server is killed in the middle of payments: store_unavailable meanwhile, nothing is lost, and each is served for one price`, async () => {
      const { place, server } = await openFrail(kind);
      const yard = await ground.openYard({ place, size: 2, timing: shortTiming, attempts });
      const [buyer = 0] = ground.hireBuyers(1);
      try {
        for (const { flow, at } of outagesOf()) {
          assertHeld(await playOutage(yard, server, { seed: at, flow, buyer }));
        }
      } finally {
        await yard.close();
        await server.stop();
      }
    });
  }

  for (const flow of flows) {
    test(`C04: ${flow}, killed in its work as often as one payment may try: no further run, and the books say who owes whom`, async () => {
      const place = await ground.house.place('sqlite');
      const yard = await ground.openYard({ place, size: 1, timing: shortTiming, attempts: 2 });
      const [buyer = 0] = ground.hireBuyers(1);
      try {
        await exhaust(yard, flow, buyer);
      } finally {
        await yard.close();
      }
    });
  }

  test('C02: four sellers that do not share their claims are found out', async () => {
    const yard = await ground.openYard({ place: { kind: 'memory' }, size: 4, timing: shortTiming, attempts });
    const [buyer = 0] = ground.hireBuyers(1);
    try {
      const copies = await playCopies(yard, { seed, flow: 'authorization', buyer, copies: 8 });
      assert.match(copies.violations.join(), /S1: [2-4] executions/);
      assert.ok(copies.history.length > 0);
      const forgetful = killAt('recorded', {
        store: 'memory',
        flow: 'upfront',
        processes: { least: 2, most: 2 },
      });
      const forgotten = await playKills(yard, { ...forgetful, again: 'restarted', settle: 'pass' }, buyer);
      assert.notDeepEqual(forgotten.violations, []);
    } finally {
      await yard.close();
    }
  });
});

type Where = {
  readonly store: StoreKind;
  readonly flow: Flow;
  readonly processes: { least: number; most: number };
};

/** The first plan, from our seed on, that kills at this point and does nothing else to a seller. */
function killAt(point: Point, { store, flow, processes }: Where): Plan {
  for (let at = seed; at < seed + 1_000; at += 1) {
    const plan = planRound({ seed: at, store, flow, processes });
    const [step] = plan.steps;
    if (plan.ordeal === 'kill' && plan.steps.length === 1 && step?.point === point) return plan;
  }
  throw new RangeError(`no seed kills at ${point}`);
}

function stalled(plan: Plan, point: Point): Plan {
  return { ...plan, ordeal: 'stall', steps: [{ point, act: 'halt' }], settle: 'pass' };
}

/** Faults follow one another, so that the list begins at each of its multiples. */
function firstFault(from: number): number {
  return Math.ceil(from / lostAnswers.length) * lostAnswers.length;
}

/** Some of the moments at which a server can die: early, in the work, with the money out, and at any moment. */
function outagesOf(): readonly { readonly flow: Flow; readonly at: number }[] {
  const points: readonly (readonly [Flow, Point | undefined])[] = [
    ['authorization', 'working'],
    ['authorization', 'kept'],
    ['authorization', undefined],
    ['upfront', 'claimed'],
    ['upfront', 'recorded'],
  ];
  return points.map(([flow, point]) => ({ flow, at: momentsOf(flow).indexOf(point) }));
}

async function exhaust(yard: Yard, flow: Flow, buyer: number): Promise<void> {
  const steps = [
    { point: 'working', act: 'die' },
    { point: 'working', act: 'die' },
  ] as const;
  const scene = await openScene(yard, { seed, buyer, flow, workMs: 0, size: 120, steps });
  const [seat] = yard.fleet.seats;
  assert.ok(seat);
  const last = await untilServed(scene, () => seat, { pauseMs: 100 });
  assert.equal(seat.kills(), 2);
  const { charges, spent } = await chargesOf(scene);
  const runs = (await yard.fleet.read()).filter(({ what }) => what === 'run');
  assert.equal(runs.length, 2);
  if (flow === 'authorization') {
    assert.deepEqual([last?.status, last?.code, last?.invites], [402, 'attempts_exhausted', true]);
    assert.deepEqual([charges.length, spent], [0, 0n]);
  } else {
    assert.deepEqual([last?.status, last?.code, last?.invites], [502, 'work_owed', false]);
    assert.deepEqual([charges.length, spent], [1, 10_000n]);
  }
}
