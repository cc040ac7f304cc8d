/** What kind of world a seed plays in. All of it follows from the seed, so that a seed is a whole description. */
import type { Luck } from '../lib/test/luck.ts';

export type Flow = 'authorization' | 'upfront';

export type Scenario = {
  /** `mixed`: each process its own flow, as in the middle of a deployment. */
  readonly flow: Flow | 'mixed';
  readonly processes: 2 | 3;
  /** Whether the facilitator may lie. */
  readonly lies: boolean;
  /** Whether the newest blocks may vanish. */
  readonly reorganises: boolean;
  /** Whether wall clocks of processes may be wrong, and how far: `near` is within the tolerated skew. */
  readonly clocks: 'right' | 'near' | 'far';
  /** Whether buyers name their purchases. */
  readonly names: boolean;
  /** Whether sellers reconcile in the background, and may send again without being asked. */
  readonly reconcile: 'off' | 'never' | 'upfront';
  /** How deep a payment must be seen; `said`: a facilitator's word is enough. */
  readonly assurance: 'said' | 'latest' | 3;
  readonly binding: 'echoed' | 'off';
  readonly breaker: boolean;
  readonly unpaidRuns: boolean;
  /** Deeds before the calm in which everything is settled up. */
  readonly deeds: number;
};

/** Draws a scenario; every one of its members is drawn, so that a new one changes no older. */
export function drawScenario(luck: Luck): Scenario {
  const flow = luck.weigh({ authorization: 3, upfront: 3, mixed: 2 });
  return {
    flow,
    processes: luck.chance(0.25) ? 3 : 2,
    lies: luck.chance(0.3),
    reorganises: luck.chance(0.2),
    clocks: luck.weigh({ right: 6, near: 2, far: 1 }),
    names: luck.chance(0.3),
    reconcile: luck.weigh({ off: 5, never: 2, upfront: 2 }),
    assurance: luck.pick(['said', 'said', 'said', 'latest', 3]),
    binding: luck.chance(0.75) ? 'echoed' : 'off',
    breaker: luck.chance(0.2),
    unpaidRuns: luck.chance(0.3),
    deeds: 8 + Math.floor(luck.roll() * 30),
  };
}

/** One line for whoever reads a trace. */
export function describeScenario(scenario: Scenario): string {
  return Object.entries(scenario)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}
