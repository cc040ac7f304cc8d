/** Rounds in which the database server is killed while a payment is under way, and started again. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Yard } from '../fleet/ground.ts';
import type { FrailPlace } from '../fleet/house.ts';
import type { Seat } from '../fleet/seat.ts';
import { seatAt } from './kill.ts';
import { createLuck } from './luck.ts';
import {
  closeScene,
  openScene,
  type Result,
  type Scene,
  type Standing,
  showUntilReached,
  untilServed,
} from './play.ts';
import { type Flow, type Point, pointsOf } from './point.ts';

export type OutageFrame = { readonly seed: number; readonly flow: Flow; readonly buyer: number };

/** Halting there would halt nothing: the settle is under way, or the answer is leaving. */
const fleeting: ReadonlySet<Point> = new Set(['sent', 'delivering']);

/** When the server dies: at each point, and at any moment. */
export function momentsOf(flow: Flow): readonly (Point | undefined)[] {
  return [...pointsOf[flow].filter((point) => !fleeting.has(point)), undefined];
}
/** A store that is down is noticed within its time-outs, which are a few seconds. */
const noticeLimitMs = 30_000;
const excused: readonly string[] = ['store_unavailable'];

/** Kills the server when the payment comes to a point, or at any moment, and starts it again once it was missed. */
export async function playOutage(
  yard: Yard,
  server: FrailPlace['server'],
  { seed, flow, buyer }: OutageFrame,
): Promise<Result> {
  const { fleet, rig } = yard;
  const moments = momentsOf(flow);
  const luck = createLuck(seed, flow, 'outage');
  const point = moments[seed % moments.length];
  const steps = point === undefined ? [] : [{ point, act: 'halt' as const }];
  const scene = await openScene(yard, { seed, buyer, flow, workMs: luck.between(20, 60), size: 120, steps });
  rig.setMode('pass');
  const asked = luck.below(fleet.seats.length);
  const { seat: halted, shown } = await moment(scene, {
    seat: seatAt(fleet.seats, asked),
    point,
    afterMs: luck.between(0, 90),
  });
  await server.kill();
  halted?.resume();
  const noticed = await untilNoticed(scene, (asked + 1) % fleet.seats.length);
  await server.restart();
  await shown;
  await untilServed(scene, () => seatAt(fleet.seats, luck.below(fleet.seats.length)), { pauseMs: 100 });
  const about = `the store's server is killed at ${point ?? 'any moment'}`;
  const result = await closeScene(scene, { seed, about, excused, unkept: 1 });
  const silent = noticed ? [] : ['S5: nobody said store_unavailable while the store was down'];
  return { ...result, violations: [...result.violations, ...silent] };
}

type Moment = { readonly seat: Seat; readonly point: Point | undefined; readonly afterMs: number };

/** When the payment has come to its point, with the seller that stands still there; or after a while. */
async function moment(scene: Scene, { seat, point, afterMs }: Moment): Promise<Standing> {
  if (point !== undefined) return showUntilReached(scene, seat);
  const shown = scene.show(seat).then(() => {});
  await pause(afterMs);
  return { seat: undefined, shown };
}

/** Presents the payment to one seller until it says that its store is down. */
async function untilNoticed(scene: Scene, at: number): Promise<boolean> {
  const limit = AbortSignal.timeout(noticeLimitMs);
  const seat = seatAt(scene.yard.fleet.seats, at);
  while (!limit.aborted) {
    const { status, code } = await scene.show(seat);
    if (status === 503 && code === 'store_unavailable') return true;
    await pause(50);
  }
  return false;
}
