/** Rounds in which sellers are killed, or stand still, at a named point, with copies of the payment under way. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Yard } from '../fleet/ground.ts';
import type { Seat } from '../fleet/seat.ts';
import { carriedOut } from '../seller/orders.ts';
import { createLuck } from './luck.ts';
import { type Copy, type Plan, tellPlan } from './plan.ts';
import {
  type Closing,
  closeScene,
  openScene,
  type Result,
  type Scene,
  showUntilReached,
  untilServed,
} from './play.ts';

/** A process that is killed after the buyer had its answer takes a moment to get there. */
const afterwordMs = 300;
/**
 * Leases are over long before. What stopped inside a transaction of SQLite has the file's lock with it, and the others
 * say store_unavailable until it wakes.
 */
const stallLimitMs = 8_000;

/** What was done to the sellers from outside. */
type Harm = Pick<Closing, 'killed' | 'stalls' | 'excused'>;

/** Plays a plan of kills, or of one seller that stands still; without steps only the facilitator breaks. */
export async function playKills(yard: Yard, plan: Plan, buyer: number): Promise<Result> {
  const { seed, flow, workMs, size, steps, processes, pauseMs } = plan;
  const seats = yard.fleet.seats.slice(0, processes);
  await Promise.all(seats.map((seat) => seat.url()));
  const scene = await openScene(yard, { seed, buyer, flow, workMs, size, steps });
  yard.rig.setMode([plan.settle]);
  const ordeal = plan.ordeal === 'stall' ? stall : kill;
  const harm = await ordeal(scene, plan, seats);
  // Once more, to whoever is asked: the same answer, and no other charge.
  const luck = createLuck(seed, 'once more');
  await untilServed(scene, () => seatAt(seats, luck.below(seats.length)), { pauseMs });
  return closeScene(scene, { seed, about: tellPlan(plan), ...harm });
}

/** All copies at once, and again until it was served after the last kill. */
async function kill(scene: Scene, plan: Plan, seats: readonly Seat[]): Promise<Harm> {
  const over = new AbortController();
  const killing = killSenders(scene, plan, over.signal);
  const choose = chooser(plan, seats);
  await Promise.all(showCopies(scene, plan.copies, seats));
  await serve(scene, plan, choose);
  over.abort();
  return { killed: await killing };
}

/** Whoever reaches the point stands still, as a machine that swaps, until the others have served its payment. */
async function stall(scene: Scene, plan: Plan, seats: readonly Seat[]): Promise<Harm> {
  const [first, ...others] = plan.copies;
  const copies = showCopies(scene, others, seats);
  const { seat: asleep, shown } = await showUntilReached(scene, seatAt(seats, first?.seat ?? 0));
  if (asleep === undefined) {
    await Promise.all([...copies, shown]);
    return {};
  }
  asleep.signal('SIGSTOP');
  const awake = seats.filter((seat) => seat !== asleep);
  const luck = createLuck(plan.seed, 'awake');
  try {
    const pauses = { pauseMs: plan.pauseMs, limitMs: stallLimitMs };
    await untilServed(scene, () => seatAt(awake, luck.below(awake.length)), pauses);
  } finally {
    asleep.signal('SIGCONT');
    asleep.resume();
  }
  await Promise.all([...copies, shown]);
  // Whoever wakes finds that the time for its calls has run out, the one to its store too.
  return { stalls: 1, excused: ['store_unavailable'] };
}

function showCopies(scene: Scene, copies: readonly Copy[], seats: readonly Seat[]): readonly Promise<void>[] {
  return copies.map(async ({ seat, afterMs, leavesMs }) => {
    await pause(afterMs);
    await scene.show(seatAt(seats, seat), leavesMs === undefined ? undefined : AbortSignal.timeout(leavesMs));
  });
}

/** Until it was served after the last kill that could still come. */
async function serve(scene: Scene, plan: Plan, choose: () => Seat): Promise<void> {
  const { orders, yard } = scene;
  const { folder } = yard.fleet;
  for (;;) {
    const before = carriedOut(folder, orders).length;
    const answer = await untilServed(scene, choose, { pauseMs: plan.pauseMs });
    if (answer?.status !== 200 || before === plan.steps.length) return;
    await pause(afterwordMs);
    if (carriedOut(folder, orders).length === before) return;
  }
}

/** Kills from outside whoever has sent a settle, once that has arrived, or landed. */
async function killSenders(scene: Scene, plan: Plan, over: AbortSignal): Promise<number> {
  const { fleet, rig } = scene.yard;
  for (let killed = 0; ; killed += 1) {
    const reached = await fleet.reached(over);
    if (reached === undefined) return killed;
    await (plan.after === 'landing' ? rig.landed(1) : rig.arrived(1));
    reached.seat.signal('SIGKILL');
  }
}

/** Whom to ask again, where some of the seats may have lost their process in this round. */
function chooser(plan: Plan, seats: readonly Seat[]): () => Seat {
  const before = seats.map((seat) => seat.kills());
  const luck = createLuck(plan.seed, 'again');
  return () => {
    const victim = seats.findLast((seat, at) => seat.kills() > (before[at] ?? 0));
    if (victim !== undefined && plan.again === 'restarted') return victim;
    const others = seats.filter((seat) => seat !== victim);
    const among = plan.again === 'others' && victim !== undefined ? others : seats;
    return seatAt(among, luck.below(among.length));
  };
}

/** The seat of this number, or the first one. */
export function seatAt(seats: readonly Seat[], at: number): Seat {
  const seat = seats[at] ?? seats[0];
  if (seat === undefined) throw new RangeError('A round has at least one seat.');
  return seat;
}
