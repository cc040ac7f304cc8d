/**
 * What is done in one round of kills, all of it chosen by the round's seed. Points follow one another from seed to seed,
 * so that any row of seeds as long as the list of points visits each of them.
 */
import type { Fault, FaultName } from 'counterfoil-devnet';
import { createLuck, type Luck } from './luck.ts';
import { type Act, type Flow, type Point, pointsOf, type Step } from './point.ts';

/** A process that is not killed but stands still, as under SIGSTOP, until others have served its payment. */
export type Ordeal = 'kill' | 'stall';

export type Plan = {
  readonly seed: number;
  readonly flow: Flow;
  readonly ordeal: Ordeal;
  /** How many sellers of the fleet take part. */
  readonly processes: number;
  readonly steps: readonly Step[];
  /** What the facilitator does with the first settle. */
  readonly settle: FaultName | Fault;
  /** Of a kill after the settle was sent: once it has landed, or while it is on its way. */
  readonly after: 'arrival' | 'landing';
  /** Presentations that are under way together; the first is the one that should win. */
  readonly copies: readonly Copy[];
  readonly workMs: number;
  readonly size: number;
  /** Whom the payment is presented to again. */
  readonly again: 'anyone' | 'restarted' | 'others';
  readonly pauseMs: number;
};

export type Copy = {
  readonly seat: number;
  readonly afterMs: number;
  /** Its buyer goes away so long after it has asked. */
  readonly leavesMs?: number;
};

export type Frame = {
  readonly seed: number;
  /** Keeps the series of two stores apart. */
  readonly store: string;
  readonly flow: Flow;
  readonly processes: { readonly least: number; readonly most: number };
};

/** Each moves the money, or does not, and loses the answer in its own way. */
export const lostAnswers: readonly [FaultName, ...FaultName[]] = [
  'land_then_502',
  'land_then_504',
  'land_then_reset',
  'land_then_cut',
  'land_then_unended',
  'land_then_truncated',
  'land_then_hang',
  'land_then_refused',
  'land_twice',
  'unavailable',
  'reset',
  'hang',
];

/** How a settle fares whose sender is killed meanwhile. */
const sentWays: readonly [Way, ...Way[]] = [
  { settle: 'land_then_hang', after: 'landing' },
  { settle: 'hang', after: 'arrival' },
  { settle: { forward: true, beforeMs: 250, answer: { kind: 'hang' } }, after: 'arrival' },
];
type Way = Pick<Plan, 'settle' | 'after'>;
const untroubled: Way = { settle: 'pass', after: 'arrival' };

/** Longer than what may fit into one piece, so that half of it can leave. */
const longSize = 150_000;
const sizes: readonly [number, ...number[]] = [120, 120, 3_000, longSize];
const mostWorkMs = 60;
/** Where a process that stands still has something that others may take from it. */
const stallPoints: ReadonlySet<Point> = new Set([
  'claimed',
  'working',
  'kept',
  'answered',
  'started',
  'ready',
]);

/** The plan of a seed. */
export function planRound({ seed, store, flow, processes: range }: Frame): Plan {
  const luck = createLuck(seed, store, flow);
  const points = pointsOf[flow];
  const point = points[seed % points.length] ?? points[0];
  const processes = luck.between(range.least, range.most);
  const stalls = luck.chance(0.2) && stallPoints.has(point);
  const steps = stalls ? [{ point, act: 'halt' as const }] : killSteps(luck, points, point);
  return {
    seed,
    flow,
    ordeal: stalls ? 'stall' : 'kill',
    processes,
    steps,
    // What stands still must be reached by the first copies, so nothing else is in their way.
    ...(stalls ? untroubled : wayOf(luck, steps)),
    copies: stalls ? staying(copiesOf(luck, processes)) : copiesOf(luck, processes),
    workMs: luck.between(0, mostWorkMs),
    size: steps.some((step) => step.point === 'delivering') ? longSize : luck.pick(sizes),
    again: stalls ? 'others' : luck.pick(['anyone', 'restarted', 'others']),
    pauseMs: luck.between(40, 120),
  };
}

/** The plan of a seed where nobody dies and the facilitator breaks; faults follow one another from seed to seed. */
export function planFault({ seed, store, flow, processes: range }: Frame): Plan {
  const luck = createLuck(seed, store, flow, 'fault');
  const processes = luck.between(range.least, range.most);
  return {
    seed,
    flow,
    ordeal: 'kill',
    processes,
    steps: [],
    settle: lostAnswers[seed % lostAnswers.length] ?? lostAnswers[0],
    after: 'arrival',
    copies: copiesOf(luck, processes),
    workMs: luck.between(0, mostWorkMs),
    size: luck.pick(sizes),
    again: 'anyone',
    pauseMs: luck.between(20, 60),
  };
}

/** The plan in one line, for whoever reads what came of it. */
export function tellPlan({ ordeal, steps, settle, processes, copies, workMs, size, again }: Plan): string {
  const points = steps.map(({ point }) => point).join(', then ') || 'no point';
  const fault = typeof settle === 'string' ? settle : JSON.stringify(settle);
  const goods = `${size} octets in ${workMs} ms`;
  return `${ordeal} at ${points}; settle ${fault}; ${copies.length} copies at ${processes} sellers of ${goods}; again at ${again}`;
}

/** One kill as a rule, now and then a second one at another point, wherever the payment comes by it next. */
function killSteps(luck: Luck, points: readonly [Point, ...Point[]], point: Point): readonly Step[] {
  const step = (at: Point): Step => ({ point: at, act: actAt(at) });
  if (!luck.chance(0.15)) return [step(point)];
  return [step(point), step(luck.pick(points))];
}

/** Whether the settle has left is known outside, so that is where it is killed from. */
function actAt(point: Point): Act {
  return point === 'sent' ? 'report' : 'die';
}

function wayOf(luck: Luck, steps: readonly Step[]): Way {
  if (steps.some(({ point }) => point === 'sent')) return luck.pick(sentWays);
  return { settle: luck.chance(0.25) ? luck.pick(lostAnswers) : 'pass', after: 'arrival' };
}

function staying(copies: readonly Copy[]): readonly Copy[] {
  return copies.map(({ seat, afterMs }) => ({ seat, afterMs }));
}

function copiesOf(luck: Luck, processes: number): readonly Copy[] {
  const seat = luck.below(processes);
  const leaves = luck.chance(0.1);
  const leavesMs = luck.between(1, mostWorkMs);
  const others = Array.from({ length: luck.below(5) }, () => ({
    seat: luck.below(processes),
    afterMs: luck.between(0, 40),
  }));
  return [{ seat, afterMs: 0, ...(leaves ? { leavesMs } : {}) }, ...others];
}
