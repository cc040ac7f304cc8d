/**
 * The transitions under random interleavings: a few owners that stall, crash and come back, a facilitator that
 * lands payments and loses answers, a chain, and a store whose clock jumps. After every step the invariants of
 * design section 3 are checked against what is true on that chain.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { blocksNow } from './earlier.ts';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from './example.ts';
import { recordMoney } from './money.ts';
import { type ClaimRecord, type Flow, leaseAlive, moneyDead, moneyMoved, moneyNow } from './record.ts';
import { forgettable } from './retention.ts';
import { beginSend } from './send.ts';
import type { Step } from './step.ts';
import { holds } from './step.ts';
import type { DeliveryNote, Hold, MoneyFact } from './store.ts';
import { take } from './take.ts';
import { deliver, fail, finish, heartbeat, keepAndBeginSend, release, startWork } from './work.ts';

const payments = 3;
const requests = 2;
const owners = ['a', 'b', 'c'];
const maxSends = 3;
const bytes = new Uint8Array([1]);

/** What one process believes about one record. */
type Local = { readonly hold: Hold; stage: 'running' | 'sending' | 'moved' };
type Flight = {
  readonly key: string;
  readonly n: number;
  readonly hold: Hold;
  state: 'flying' | 'landed' | 'dropped';
};

type Heard = 'answer' | 'refuse' | 'lie' | 'unsent' | 'lose';

type Sim = {
  readonly flow: Flow;
  readonly records: Map<string, ClaimRecord>;
  readonly answers: Set<string>;
  readonly payloads: Set<string>;
  locals: Local[];
  flights: Flight[];
  readonly chain: Map<string, 'landed' | 'canceled'>;
  /** Keys whose buyer was told that it may pay again. */
  readonly invited: Set<string>;
  /** Keys that a facilitator called refused and landed all the same: I3 and I4 go by the evidence (design 9.11). */
  readonly lied: Set<string>;
  readonly runs: Map<string, number>;
  /** True time; the store's clock may be off from it. */
  trueMs: number;
  offsetMs: number;
};

type Action = { readonly kind: Kind; readonly pick: number; readonly more: number };

const moves = {
  present,
  workDone: onLocal(workDone),
  workFails: onLocal((sim, local) => endRun(sim, local)),
  giveBack: onLocal(giveBack),
  heartbeat: onLocal(beat),
  startPaidWork: onLocal(startPaid),
  facilitatorLands: onFlight(land),
  facilitatorAnswers: onFlight((sim, flight) => hear(sim, flight, 'answer')),
  facilitatorRefuses: onFlight((sim, flight) => hear(sim, flight, 'refuse')),
  facilitatorLies: onFlight((sim, flight) => hear(sim, flight, 'lie')),
  nothingLeft: onFlight((sim, flight) => hear(sim, flight, 'unsent')),
  answerIsLost: onFlight((sim, flight) => hear(sim, flight, 'lose')),
  lookUp: (sim, { pick }) => lookUp(sim, keyOf(pick)),
  buyerCancels: (sim, { pick, more }) => {
    if (more % 8 === 0 && !sim.chain.has(keyOf(pick))) sim.chain.set(keyOf(pick), 'canceled');
  },
  timePasses: (sim, { more }) => {
    sim.trueMs += more * (more % 10 === 0 ? (more % 40 === 0 ? 20_000 : 400) : 40);
  },
  storeClockJumps: (sim, { more }) => {
    sim.offsetMs = (more - 500) * 200;
  },
  ownerCrashes: (sim, { more }) => {
    sim.locals = sim.locals.filter(({ hold }) => hold.owner !== owners[more % owners.length]);
  },
  answerIsWritten: (sim, { pick }) => note(sim, keyOf(pick), { kind: 'complete', keepMs: 600_000 }),
  clientLeaves: (sim, { pick }) => note(sim, keyOf(pick), { kind: 'abandoned' }),
} satisfies { readonly [kind: string]: (sim: Sim, action: Action) => void };

type Kind =
  | 'present'
  | 'workDone'
  | 'workFails'
  | 'giveBack'
  | 'heartbeat'
  | 'startPaidWork'
  | 'facilitatorLands'
  | 'facilitatorAnswers'
  | 'facilitatorRefuses'
  | 'facilitatorLies'
  | 'nothingLeft'
  | 'answerIsLost'
  | 'lookUp'
  | 'buyerCancels'
  | 'timePasses'
  | 'storeClockJumps'
  | 'ownerCrashes'
  | 'answerIsWritten'
  | 'clientLeaves';

const weights: { readonly [kind in Kind]: number } = {
  present: 8,
  workDone: 6,
  workFails: 2,
  giveBack: 1,
  heartbeat: 1,
  startPaidWork: 4,
  facilitatorLands: 4,
  facilitatorAnswers: 4,
  facilitatorRefuses: 2,
  facilitatorLies: 1,
  nothingLeft: 2,
  answerIsLost: 3,
  lookUp: 2,
  buyerCancels: 1,
  timePasses: 3,
  storeClockJumps: 1,
  ownerCrashes: 1,
  answerIsWritten: 2,
  clientLeaves: 1,
};

const kinds = fc.oneof(
  ...(Object.keys(moves) as Kind[]).map((kind) => ({ weight: weights[kind], arbitrary: fc.constant(kind) })),
);
const action: fc.Arbitrary<Action> = fc
  .tuple(kinds, fc.nat({ max: 1_000 }), fc.nat({ max: 1_000 }))
  .map(([kind, pick, more]) => ({ kind, pick, more }));

for (const flow of ['authorization', 'upfront'] as const) {
  test(`I1, I2, I3, I4, I5, I6, I7, C10, C11: ${flow} keeps its promises under any interleaving of owners, crashes and lost answers`, () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 20, maxLength: 120 }), (actions) => {
        const sim = createSim(flow);
        for (const next of actions) {
          const before = new Map(sim.records);
          moves[next.kind](sim, next);
          check(sim, before, next);
        }
        settleDown(sim);
      }),
      { seed: 1_402, numRuns: 4_000 },
    );
  });
}

function createSim(flow: Flow): Sim {
  return {
    flow,
    records: new Map(),
    answers: new Set(),
    payloads: new Set(),
    locals: [],
    flights: [],
    chain: new Map(),
    invited: new Set(),
    lied: new Set(),
    runs: new Map(),
    trueMs: exampleNowMs,
    offsetMs: 0,
  };
}

function onLocal(move: (sim: Sim, local: Local, more: number) => void): (sim: Sim, action: Action) => void {
  return (sim, { pick, more }) => {
    const local = sim.locals[pick % Math.max(1, sim.locals.length)];
    if (local !== undefined) move(sim, local, more);
  };
}

function onFlight(move: (sim: Sim, flight: Flight) => void): (sim: Sim, action: Action) => void {
  return (sim, { pick }) => {
    const flight = sim.flights[sim.flights.length - 1 - (pick % Math.max(1, sim.flights.length))];
    if (flight !== undefined) move(sim, flight);
  };
}

function keyOf(pick: number): string {
  return exampleHex((pick % payments) + 1);
}

function note(sim: Sim, key: string, delivery: DeliveryNote): void {
  commit(sim, key, deliver(sim.records.get(key), delivery, nowMs(sim)));
}

function nowMs(sim: Sim): number {
  return sim.trueMs + sim.offsetMs;
}

function commit<O>(sim: Sim, key: string, step: Step<O>): O {
  const { record, answer, payload, other } = step.change;
  if (record === null) sim.records.delete(key);
  else if (record !== undefined) sim.records.set(key, record);
  if (other !== undefined) sim.records.set(other.key, other);
  for (const [at, change] of [
    [sim.answers, answer],
    [sim.payloads, payload],
  ] as const) {
    if (change === null) at.delete(key);
    else if (change !== undefined) at.add(key);
  }
  return step.outcome;
}

/** A buyer presents payment 1 to 3 for one of two requests; the seller takes it, or sends what it has. */
function present(sim: Sim, { pick, more }: Action): void {
  const purchase = examplePurchase((pick % payments) + 1, {
    flow: sim.flow,
    fingerprint: exampleHex(0xf00 + (more % requests)),
  });
  if (sim.trueMs >= purchase.validBeforeMs && !sim.records.has(purchase.key)) return;
  const owner = owners[more % owners.length] ?? 'a';
  const begin = sim.flow === 'upfront' ? { begin: { payload: bytes, phase: 'pay' as const } } : {};
  const record = sim.records.get(purchase.key);
  const older = record?.supersededBy === undefined ? undefined : sim.records.get(record.supersededBy);
  const view = {
    nowMs: nowMs(sim),
    full: false,
    older: olderOf(sim, purchase),
    ...(record === undefined ? {} : { record }),
    ...(older === undefined ? {} : { supersedes: older }),
  };
  const outcome = commit(sim, purchase.key, take(view, exampleTake(purchase, { owner, ...begin })));
  if (outcome.kind === 'taken') {
    checkTaken(sim, outcome.record, purchase.fingerprint);
    own(sim, outcome.hold, outcome.record);
  }
  if (outcome.kind === 'superseded') resend(sim, outcome.record, owner);
  if (outcome.kind !== 'known') return;
  if (invites(outcome.record, nowMs(sim))) sim.invited.add(purchase.key);
  if (sim.trueMs < outcome.record.validBeforeMs) resend(sim, outcome.record, owner);
}

function olderOf(sim: Sim, twins: Pick<ClaimRecord, 'fingerprint'>): readonly ClaimRecord[] {
  return [...sim.records.values()].filter(
    (record) => record.fingerprint === twins.fingerprint && blocksNow(record, nowMs(sim)),
  );
}

function checkTaken(sim: Sim, record: ClaimRecord, fingerprint: string): void {
  assert.equal(record.fingerprint, fingerprint, 'S2: a payment was taken for another request than its own');
  if (moneyMoved(record.money)) return;
  checkNoEarlier(sim, record);
}

/** No payment of this request that may have moved is without an answer and without an owner who could give it. */
function checkNoEarlier(sim: Sim, record: ClaimRecord): void {
  const atMs = nowMs(sim);
  const others = [...sim.records.values()].filter(
    (other) => other.key !== record.key && other.fingerprint === record.fingerprint,
  );
  const unknown = others.find((other) => moneyNow(other, atMs).state === 'unknown');
  assert.equal(unknown, undefined, 'S3: a newer payment goes on while an earlier one is unknown');
  const owed = others.find(
    (other) => moneyMoved(other.money) && other.deliveredAtMs === undefined && !leaseAlive(other, atMs),
  );
  assert.equal(owed, undefined, 'S3: a newer payment goes on while an earlier one is owed');
}

function own(sim: Sim, hold: Hold, record: ClaimRecord): void {
  if (record.work.state === 'running') {
    sim.locals.push({ hold, stage: 'running' });
    sim.runs.set(hold.key, (sim.runs.get(hold.key) ?? 0) + 1);
    return;
  }
  sim.locals.push({ hold, stage: 'sending' });
  fly(sim, hold, record);
}

function fly(sim: Sim, hold: Hold, record: ClaimRecord): void {
  assert.ok(record.money.state === 'sending');
  assert.equal(record.supersededBy, undefined, 'a superseded payment was sent');
  sim.flights.push({ key: hold.key, n: record.money.n, hold, state: 'flying' });
}

function resend(sim: Sim, record: ClaimRecord, owner: string): void {
  const view = { older: olderOf(sim, record), nowMs: nowMs(sim) };
  const request = { owner, leaseMs: 30_000, maxSends, earlierPayment: 'serve' } as const;
  const outcome = commit(sim, record.key, beginSend(record, view, request));
  if (outcome.kind !== 'begun') return;
  if (record.money.state === 'none') checkNoEarlier(sim, outcome.record);
  sim.locals.push({ hold: outcome.hold, stage: 'sending' });
  fly(sim, outcome.hold, outcome.record);
}

/** Also a process that asks a second time, because the store's answer was lost on the way, must change nothing. */
function workDone(sim: Sim, local: Local, more: number): void {
  if (local.stage !== 'running' && more % 4 > 0) return;
  const { hold } = local;
  const at = sim.records.get(hold.key);
  const step =
    sim.flow === 'authorization'
      ? keepAndBeginSend(at, hold, {
          answer: bytes,
          payload: bytes,
          phase: 'pay',
          leaseMs: 30_000,
          nowMs: nowMs(sim),
        })
      : finish(at, hold, { answer: bytes, partial: false, leaseMs: 30_000, nowMs: nowMs(sim) });
  const outcome = commit(sim, hold.key, step);
  if (outcome.kind === 'lost') {
    drop(sim, local);
    return;
  }
  local.stage = sim.flow === 'authorization' ? 'sending' : 'moved';
  if (local.stage === 'sending') fly(sim, hold, outcome.record);
}

function endRun(sim: Sim, local: Local): void {
  if (local.stage !== 'running') return;
  commit(sim, local.hold.key, fail(sim.records.get(local.hold.key), local.hold, nowMs(sim)));
  drop(sim, local);
}

/** A seller gives back only what its handler never saw. */
function giveBack(sim: Sim, local: Local, more: number): void {
  if (local.stage === 'running' && more % 2 === 0) return;
  const outcome = commit(
    sim,
    local.hold.key,
    release(sim.records.get(local.hold.key), local.hold, nowMs(sim)),
  );
  if (outcome.kind === 'held') sim.runs.set(local.hold.key, (sim.runs.get(local.hold.key) ?? 1) - 1);
  drop(sim, local);
}

function beat(sim: Sim, local: Local): void {
  const outcome = commit(
    sim,
    local.hold.key,
    heartbeat(sim.records.get(local.hold.key), local.hold, { leaseMs: 30_000, nowMs: nowMs(sim) }),
  );
  if (outcome.kind === 'lost') drop(sim, local);
}

function startPaid(sim: Sim, local: Local): void {
  if (sim.flow !== 'upfront') return;
  const outcome = commit(
    sim,
    local.hold.key,
    startWork(sim.records.get(local.hold.key), local.hold, { leaseMs: 30_000, nowMs: nowMs(sim) }),
  );
  if (outcome.kind === 'lost') {
    drop(sim, local);
    return;
  }
  local.stage = 'running';
  sim.runs.set(local.hold.key, (sim.runs.get(local.hold.key) ?? 0) + 1);
}

function drop(sim: Sim, local: Local): void {
  sim.locals = sim.locals.filter((other) => other !== local);
}

/** The facilitator's transaction reaches the chain; the chain takes each authorization once, and only in time. */
function land(sim: Sim, flight: Flight): void {
  const record = sim.records.get(flight.key);
  if (flight.state !== 'flying') return;
  const inTime = record === undefined || sim.trueMs < record.validBeforeMs;
  if (sim.chain.has(flight.key) || !inTime) return;
  flight.state = 'landed';
  sim.chain.set(flight.key, 'landed');
  const told = sim.invited.has(flight.key) && !sim.lied.has(flight.key);
  assert.ok(!told, 'I3: money moved after its buyer was told to pay again');
}

/** The facilitator's answer, or its loss, reaches the process that sent; a crashed process hears nothing. */
function hear(sim: Sim, flight: Flight, kind: Heard): void {
  const local = sim.locals.find(({ hold }) => hold === flight.hold);
  const record = sim.records.get(flight.key);
  if (local === undefined || record === undefined) return;
  const fact = factOf(flight, kind);
  if (fact === undefined) return;
  if (kind === 'refuse' || kind === 'unsent') flight.state = 'dropped';
  if (kind === 'lie') sim.lied.add(flight.key);
  const { record: after } = commit(sim, flight.key, recordMoney(record, fact, nowMs(sim)));
  if (after !== undefined && invites(after, nowMs(sim))) sim.invited.add(flight.key);
  if (fact.fact === 'settled') local.stage = 'moved';
  else drop(sim, local);
}

function factOf(flight: Flight, kind: Heard): MoneyFact | undefined {
  const { n, hold } = flight;
  if (kind === 'lose') return { fact: 'unknown', n, reason: 'timeout' };
  if (kind === 'answer') {
    return flight.state === 'landed'
      ? { fact: 'settled', transaction: '0x1', amount: 10_000n, by: 'facilitator' }
      : undefined;
  }
  // An honest facilitator refuses only what it will not land, and nothing that left can be unsent.
  if (flight.state === 'landed' && kind !== 'lie') return undefined;
  if (kind === 'unsent') return { fact: 'unsent', n, hold };
  return { fact: 'refused', why: 'definite', reason: 'insufficient_funds', by: 'facilitator', n };
}

function lookUp(sim: Sim, key: string): void {
  const record = sim.records.get(key);
  if (record === undefined || record.money.state === 'none') return;
  const fact = chainFact(sim, record);
  if (fact === undefined) return;
  const { record: after } = commit(sim, key, recordMoney(record, fact, nowMs(sim)));
  if (after !== undefined && invites(after, nowMs(sim))) sim.invited.add(key);
}

function chainFact(sim: Sim, record: ClaimRecord): MoneyFact | undefined {
  const seen = sim.chain.get(record.key);
  if (seen === 'landed') return { fact: 'settled', transaction: '0x1', amount: 10_000n, by: 'chain' };
  const reason = seen === 'canceled' ? 'canceled' : 'expired';
  if (seen === undefined && sim.trueMs < record.validBeforeMs) return undefined;
  return { fact: 'refused', why: reason, reason, by: 'chain' };
}

/** The seller would answer this record with a payable 402 (design section 4). */
function invites(record: ClaimRecord, atMs: number): boolean {
  if (leaseAlive(record, atMs) || record.supersededBy !== undefined) return false;
  return moneyDead(record.money) || (record.money.state === 'none' && record.work.state === 'exhausted');
}

function check(sim: Sim, before: ReadonlyMap<string, ClaimRecord>, last: Action): void {
  for (const [key, record] of sim.records) {
    const said = `after ${last.kind}: ${JSON.stringify({ work: record.work, money: record.money.state })}`;
    const running = sim.locals.filter(
      ({ hold, stage }) =>
        hold.key === key && stage === 'running' && holds(record, hold) && leaseAlive(record, nowMs(sim)),
    );
    assert.ok(running.length <= 1, `I1: two owners run one payment ${said}`);
    assert.ok((sim.runs.get(key) ?? 0) <= record.maxAttempts, `C11: ran more often than it may ${said}`);
    const landed = sim.chain.get(key) === 'landed';
    assert.ok(!(landed && record.money.state === 'none'), `I5: money moved and the record says none ${said}`);
    const invited = sim.invited.has(key) && !sim.lied.has(key);
    assert.ok(!(landed && invited), `I3: invited to pay again for money that moved ${said}`);
    const lost =
      landed && !sim.lied.has(key) && record.deliveredAtMs === undefined && forgettable(record, nowMs(sim));
    assert.ok(!lost, `I4: a paid and undelivered record may be forgotten ${said}`);
    const early = sim.flow === 'upfront' && record.work.state === 'running' && !moneyMoved(record.money);
    assert.ok(!early || moneyDead(record.money), `I2: work runs before its money moved ${said}`);
    checkKept(sim, record, said);
    checkMonotone(before.get(key), record, said);
  }
}

function checkKept(sim: Sim, record: ClaimRecord, said: string): void {
  const money = record.money.state;
  if (
    sim.flow === 'authorization' &&
    (money === 'sending' || money === 'unknown' || moneyMoved(record.money))
  ) {
    assert.ok(sim.answers.has(record.key), `I7: money may move for an answer that is not kept ${said}`);
  }
  if (money === 'sending' || money === 'unknown') {
    assert.ok(sim.payloads.has(record.key), `the bytes for an identical re-send are gone ${said}`);
  }
  assert.equal(record.answerBytes !== undefined, sim.answers.has(record.key), said);
}

function checkMonotone(before: ClaimRecord | undefined, after: ClaimRecord, said: string): void {
  if (before === undefined || before === after) return;
  assert.ok(after.fence >= before.fence, `I6: the fence went back ${said}`);
  assert.ok(after.sends >= before.sends - 1, said);
  if (before.deliveredAtMs === undefined && after.deliveredAtMs !== undefined) {
    assert.ok(moneyMoved(after.money) && after.work.state === 'done', `I2: delivered too early ${said}`);
  }
  if (before.supersededBy !== undefined) assert.equal(after.supersededBy, before.supersededBy, said);
  if (before.money.state === 'settled') assert.ok(['settled', 'refused'].includes(after.money.state), said);
  if (before.money.state === 'refused') assert.ok(['settled', 'refused'].includes(after.money.state), said);
  if (moneyMoved(before.money) || moneyMoved(after.money)) {
    const request = [before.fingerprint, before.signatureHash];
    assert.deepEqual(
      [after.fingerprint, after.signatureHash],
      request,
      `S2: paid money changed its request ${said}`,
    );
  }
}

/** In the end everything is looked up; then whatever moved is delivered, re-deliverable or owed (I4). */
function settleDown(sim: Sim): void {
  for (const flight of sim.flights) land(sim, flight);
  sim.locals = [];
  sim.trueMs += 600_000;
  for (const key of sim.records.keys()) lookUp(sim, key);
  for (const [key, record] of sim.records) {
    const landed = sim.chain.get(key) === 'landed';
    assert.equal(moneyMoved(record.money), landed, `the chain and the record of ${key} disagree in the end`);
    assert.notEqual(moneyNow(record, nowMs(sim)).state, 'unknown');
    if (landed && sim.flow === 'authorization')
      assert.ok(sim.answers.has(key), 'I4: nothing is left to deliver');
  }
}
