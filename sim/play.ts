/** One run: a seed is played to its end, and what was seen is returned. The same seed plays the same run. */
import { calmDown } from './calm.ts';
import { openShops } from './cast.ts';
import { doDeed } from './deeds.ts';
import type { Scenario } from './scenario.ts';
import { createStage, type Settings, type Tally } from './stage.ts';

export type Played = {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly faults: readonly string[];
  readonly tally: Tally;
  /** What happened, line by line, if it was asked for. */
  readonly trace: readonly string[];
};

/** Plays one seed; every operation of the store and every answer is judged on the way. */
export async function play(settings: Settings): Promise<Played> {
  const stage = createStage(settings);
  const cast = await openShops(stage);
  for (let deed = 0; deed < stage.scenario.deeds; deed += 1) await doDeed(cast);
  await calmDown(cast);
  stage.tally.operations = stage.watched.operations();
  const { scenario, faults, tally } = stage;
  return { seed: settings.seed, scenario, faults, tally, trace: stage.trace.lines() };
}
