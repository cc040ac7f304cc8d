/** Plays one round: a payment, its copies, what befalls the sellers, and the same payment again until it is served. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Yard } from '../fleet/ground.ts';
import { RigError, type Seat } from '../fleet/seat.ts';
import { sharedNowMs } from '../seller/journal.ts';
import { carriedOut, giveOrders, type Orders, withdrawOrders } from '../seller/orders.ts';
import { type Payment, present, type Seen, signFor } from './buyer.ts';
import { tellHistory } from './history.ts';
import { judge, type Verdict } from './judge.ts';
import type { Flow, Step } from './point.ts';

/** What one round came to. */
export type Result = Verdict & {
  readonly seed: number;
  readonly kills: number;
  readonly stalls: number;
  readonly copies: number;
  readonly settles: number;
  /** What was ordered and carried out. */
  readonly points: readonly Step['point'][];
  /** Only where a promise was broken. */
  readonly history: readonly string[];
};

/** A round under way. */
export type Scene = {
  readonly yard: Yard;
  readonly payment: Payment;
  readonly size: number;
  readonly orders: Orders;
  /** What was mined until then is none of this round's. */
  readonly afterBlock: bigint;
  readonly killsBefore: number;
  /** Everything that the buyer was answered so far. */
  readonly seen: Seen[];
  /** Presents the payment to a seller, whichever process sits there when it is asked. */
  readonly show: (seat: Seat, leave?: AbortSignal) => Promise<Seen>;
};

export type Setting = {
  readonly seed: number;
  readonly buyer: number;
  readonly flow: Flow;
  readonly workMs: number;
  readonly size: number;
  readonly steps: readonly Step[];
};

/** An authorization lives five minutes; whoever is not served in one never will be. */
const patienceMs = 60_000;

let rounds = 0;

/** Signs a payment and gives the orders about it; nothing has been presented yet. */
export async function openScene(yard: Yard, setting: Setting): Promise<Scene> {
  const { ground, fleet, rig } = yard;
  const { buyer, flow, workMs, size, steps, seed } = setting;
  const target = `/${flow}?work=${workMs}&size=${size}&seed=${seed}`;
  const [first] = fleet.seats;
  if (first === undefined) throw new RangeError('A fleet has at least one seat.');
  const payment = await signFor(ground, buyer, `${await first.url()}${target}`);
  const afterBlock = await ground.devnet.chain.blockNumber();
  rounds += 1;
  const { nonce, header } = payment;
  const orders = { round: rounds, nonce, header, steps };
  await fleet.read();
  fleet.forget();
  rig.clear();
  if (steps.length > 0) giveOrders(fleet.folder, orders);
  const seen: Seen[] = [];
  return {
    yard,
    payment,
    size,
    orders,
    afterBlock,
    killsBefore: fleet.kills(),
    seen,
    show: async (seat, leave) => {
      const url = `${await seat.url()}${target}`;
      const answer = await present({ seat: seat.name, url }, payment, leave);
      seen.push(answer);
      return answer;
    },
  };
}

/** Presents the payment again and again until it is served, or for so long that it never will be. */
export async function untilServed(
  { show }: Scene,
  choose: () => Seat,
  { pauseMs, limitMs = patienceMs }: { readonly pauseMs: number; readonly limitMs?: number },
): Promise<Seen | undefined> {
  const untilMs = sharedNowMs() + limitMs;
  while (sharedNowMs() < untilMs) {
    const answer = await show(choose());
    // Whatever does not ask for patience does not get better; what is wrong with it is told in the end.
    const patient = answer.status === 402 || answer.status === 503 || answer.status === 'cut';
    if (!patient || answer.invites) return answer;
    await pause(pauseMs);
  }
  return undefined;
}

/** A payment comes by every point in much less. */
const reachLimitMs = 30_000;

/** A seller that has come to a point and stands there, and the presentations that wait for it. */
export type Standing = { readonly seat: Seat | undefined; readonly shown: Promise<void> };

/** Presents the payment to a seller until one has come to its point; after a while nobody is to stand still any more. */
export async function showUntilReached({ yard, show }: Scene, seat: Seat): Promise<Standing> {
  let over = false;
  const showing = async (): Promise<void> => {
    while (!over) {
      await show(seat);
      await pause(50);
    }
  };
  const shown = showing();
  const reached = await yard.fleet.reached(AbortSignal.timeout(reachLimitMs));
  over = true;
  if (reached === undefined) withdrawOrders(yard.fleet.folder);
  return { seat: reached?.seat, shown };
}

export type Closing = {
  readonly seed: number;
  /** What was planned, in one line. */
  readonly about: string;
  /** Processes that were killed from outside, beside those that died of an order. */
  readonly killed?: number;
  readonly stalls?: number;
  readonly excused?: readonly string[];
  readonly unkept?: number;
  /** Nothing breaks, so nothing may be sent twice. */
  readonly settlesOnce?: true;
};

/** Withdraws the orders, reads the chain and the journal, and judges. */
export async function closeScene(scene: Scene, closing: Closing): Promise<Result> {
  const { yard, payment, size, orders, seen } = scene;
  const { fleet, rig, attempts } = yard;
  withdrawOrders(fleet.folder);
  await settled(yard);
  const journal = await fleet.read();
  const { charges, spent } = await chargesOf(scene);
  const { nonce } = payment;
  const { seed, about, killed = 0, stalls = 0, excused = [], unkept = 0, settlesOnce = false } = closing;
  const verdict = judge({ nonce, size, seen, journal, charges, spent, attempts, excused, unkept });
  const settles = rig.counts().settle;
  // A settle that takes too long is unknown, and may be sent again.
  const doubted = seen.some(({ code }) => code === 'settlement_unknown');
  const twice = settlesOnce && settles !== 1 && !doubted ? [`C02: ${settles} settles`] : [];
  const violations = [...verdict.violations, ...twice];
  const done = carriedOut(fleet.folder, orders);
  const kills = killed + done.filter(({ act }) => act === 'die').length;
  await buried(yard, scene.killsBefore + kills);
  return {
    ...verdict,
    seed,
    kills,
    stalls,
    copies: seen.length,
    settles,
    violations,
    points: done.map(({ point }) => point),
    history: violations.length === 0 ? [] : [about, ...tellHistory(journal, seen)],
  };
}

/** What is on its way to the chain when a round ends must be counted in this one. */
async function settled({ rig }: Yard): Promise<void> {
  const untilMs = sharedNowMs() + patienceMs;
  while (rig.calls('settle').some(({ landed }) => landed === undefined)) {
    if (sharedNowMs() > untilMs) throw new RigError('The facilitator does not answer.');
    await pause(20);
  }
}

/** Everybody who was to be killed has ended by SIGKILL, which comes a moment after the last word. */
async function buried({ fleet }: Yard, kills: number): Promise<void> {
  const untilMs = sharedNowMs() + patienceMs;
  while (fleet.kills() < kills) {
    if (sharedNowMs() > untilMs) throw new RigError('A seller that was to be killed lives.');
    await pause(5);
  }
}

/** What the chain shows: transactions that used the authorization, and what left the buyer's account in this round. */
export async function chargesOf({
  yard,
  payment,
  afterBlock,
}: Scene): Promise<{ readonly charges: readonly string[]; readonly spent: bigint }> {
  const { chain } = yard.ground.devnet;
  const from = addressOf(payment.payer);
  // The node refuses to look from a block that it has not mined.
  const [used, transfers] = await Promise.all([
    chain.authorizationsUsed(from, afterBlock),
    chain.transfers({ from, fromBlock: afterBlock }),
  ]);
  const now = transfers.filter(({ blockNumber }) => blockNumber > afterBlock);
  return {
    charges: used.filter(({ nonce }) => nonce === payment.nonce).map(({ transaction }) => transaction),
    spent: now.reduce((sum, { value }) => sum + value, 0n),
  };
}

function addressOf(text: string): `0x${string}` {
  return `0x${text.slice(2)}`;
}
