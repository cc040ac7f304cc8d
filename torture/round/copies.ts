/** Rounds in which many copies of one payment arrive at all sellers of a fleet at once. */
import type { Yard } from '../fleet/ground.ts';
import { seatAt } from './kill.ts';
import { createLuck } from './luck.ts';
import { closeScene, openScene, type Result, untilServed } from './play.ts';
import type { Flow } from './point.ts';

export type CopiesFrame = {
  readonly seed: number;
  readonly flow: Flow;
  readonly buyer: number;
  readonly copies: number;
};

/** All copies at once, spread over the fleet: one execution, one settle, and nobody is asked to pay again. */
export async function playCopies(yard: Yard, { seed, flow, buyer, copies }: CopiesFrame): Promise<Result> {
  const { seats } = yard.fleet;
  const luck = createLuck(seed, flow, 'copies');
  const first = luck.below(seats.length);
  const setting = { seed, buyer, flow, workMs: luck.between(20, 80), size: 120, steps: [] };
  const scene = await openScene(yard, setting);
  yard.rig.setMode('pass');
  const shown = Array.from({ length: copies }, (_, at) =>
    scene.show(seatAt(seats, (first + at) % seats.length)),
  );
  const answers = await Promise.all(shown);
  // On a machine that is too slow for its facilitator all may have been told to wait.
  if (!answers.some(({ status }) => status === 200))
    await untilServed(scene, () => seatAt(seats, first), { pauseMs: 100 });
  return closeScene(scene, { seed, about: `${copies} copies at once`, settlesOnce: true });
}
