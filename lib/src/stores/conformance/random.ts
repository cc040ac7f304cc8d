/**
 * Conformance: long random histories, each operation compared with what the memory store says. Histories run side
 * by side in lanes, each with payments of its own, so that a store with a slow disk is not the bottleneck; what is
 * drawn follows from the seed alone.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import {
  type ClaimStore,
  type DeliveryNote,
  encodeRecord,
  type Finality,
  type Flow,
  type Hold,
  type MoneyFact,
  type Rank,
} from '../../claim/index.ts';
import { createMemoryStore } from '../memory.ts';
import type { OpenStore } from './bench.ts';

/** Histories that run side by side. */
const lanes = 50;
const paymentsPerLane = 3;
const longestLeaseMs = 40_000;

/** One operation with what was drawn for it, still without the lane it happens in. */
type Move = { readonly name: string; readonly run: (store: ClaimStore, lane: number) => Promise<unknown> };

function move(operation: keyof ClaimStore, drawn: unknown, run: Move['run']): Move {
  return { name: `${operation} ${JSON.stringify(drawn, asText)}`, run };
}
type Round = { readonly passMs: number; readonly moves: readonly Move[] };

const payment = fc.nat({ max: paymentsPerLane - 1 });
const owner = fc.constantFrom('a', 'b');
const fence = fc.integer({ min: 1, max: 3 });
const lease = fc.integer({ min: 1, max: longestLeaseMs });
const flow = fc.constantFrom<Flow>('authorization', 'authorization', 'upfront');
const earlierPayment = fc.constantFrom('serve' as const, 'serve' as const, 'off' as const);
const content = fc.uint8Array({ maxLength: 40 });
const n = fc.integer({ min: 1, max: 3 });
const by = fc.constantFrom<Rank>('chain', 'facilitator');

function keyOf(lane: number, which: number): string {
  return exampleHex((lane + 1) * 16 + which);
}

function holdOf(lane: number, [which, name, at]: readonly [number, string, number]): Hold {
  return { key: keyOf(lane, which), owner: name, fence: at };
}

const hold = fc.tuple(payment, owner, fence);

const take: fc.Arbitrary<Move> = fc
  .record({
    payment,
    owner,
    flow,
    earlierPayment,
    leaseMs: lease,
    graceMs: fc.nat({ max: 10_000 }),
    request: fc.constantFrom(0, 0, 0, 1),
    signature: fc.constantFrom(0, 0, 0, 1),
    alias: fc.constantFrom(undefined, 0, 0, 1),
    mayReplaceRequest: fc.boolean(),
    exposure: fc.constantFrom(undefined, { unpaid: 1, open: 1 }, { unpaid: 2, open: 2 }),
    assurance: fc.constantFrom(undefined, undefined, 'latest' as const, 3),
    payload: content,
  })
  .map((drawn) =>
    move('take', drawn, (store, lane) => {
      const purchase = examplePurchase((lane + 1) * 16 + drawn.payment, {
        payer: `payer of lane ${lane}`,
        fingerprint: exampleHex(0xf000 + drawn.request),
        signatureHash: exampleHex(0x5000 + drawn.signature),
        flow: drawn.flow,
        ...(drawn.assurance === undefined ? {} : { assurance: drawn.assurance }),
        ...(drawn.alias === undefined ? {} : { alias: exampleHex(0xa0000 + lane * 16 + drawn.alias) }),
      });
      const begin =
        drawn.flow === 'upfront' ? { begin: { payload: drawn.payload, phase: 'pay' as const } } : {};
      const { owner: name, earlierPayment: earlier, mayReplaceRequest, leaseMs, graceMs } = drawn;
      const rules = { earlierPayment: earlier, mayReplaceRequest, times: { leaseMs, graceMs } };
      const lent = drawn.exposure === undefined ? {} : { exposure: drawn.exposure };
      return store.take(exampleTake(purchase, { owner: name, ...rules, ...begin, ...lent }));
    }),
  );

const fact: fc.Arbitrary<(lane: number) => MoneyFact> = fc.oneof(
  fc.tuple(by, fc.constantFrom('0xaa', '0xbb')).map(([rank, transaction]) => (): MoneyFact => {
    return { fact: 'settled', transaction, amount: 2n ** 200n, by: rank };
  }),
  n.map((send) => (): MoneyFact => {
    return { fact: 'refused', why: 'definite', reason: 'insufficient_funds', by: 'facilitator', n: send };
  }),
  fc.constant((): MoneyFact => ({ fact: 'refused', why: 'expired', reason: 'expired', by: 'chain' })),
  n.map((send) => (): MoneyFact => ({ fact: 'unknown', n: send, reason: 'timeout' })),
  fc.tuple(hold, n).map(([drawn, send]) => (lane: number): MoneyFact => {
    return { fact: 'unsent', n: send, hold: holdOf(lane, drawn) };
  }),
  fc.constantFrom<Finality>('latest', 3, 'safe', 'finalized').map((finality) => (): MoneyFact => {
    return { fact: 'settled', transaction: '0xaa', amount: 2n ** 200n, by: 'chain', block: 7, finality };
  }),
  fc.constant((): MoneyFact => ({ fact: 'unproven' })),
  fc.constant((): MoneyFact => ({ fact: 'reversed', transaction: '0xaa' })),
);

const held: fc.Arbitrary<Move> = fc.oneof(
  hold.map((drawn) => move('fail', drawn, (store, lane) => store.fail(holdOf(lane, drawn)))),
  hold.map((drawn) => move('release', drawn, (store, lane) => store.release(holdOf(lane, drawn)))),
  fc
    .tuple(hold, lease)
    .map((drawn) =>
      move('heartbeat', drawn, (store, lane) => store.heartbeat(holdOf(lane, drawn[0]), drawn[1])),
    ),
  fc
    .tuple(hold, lease)
    .map((drawn) =>
      move('startWork', drawn, (store, lane) => store.startWork(holdOf(lane, drawn[0]), drawn[1])),
    ),
  fc.tuple(hold, fc.record({ leaseMs: lease, answer: content, partial: fc.boolean() })).map((drawn) => {
    return move('finish', drawn, (store, lane) => store.finish(holdOf(lane, drawn[0]), drawn[1]));
  }),
  fc
    .tuple(
      hold,
      fc.record({ leaseMs: lease, answer: content, payload: content, phase: fc.constant('pay' as const) }),
    )
    .map((drawn) =>
      move('keepAndBeginSend', drawn, (store, lane) =>
        store.keepAndBeginSend(holdOf(lane, drawn[0]), drawn[1]),
      ),
    ),
);

const free: fc.Arbitrary<Move> = fc.oneof(
  fc.tuple(payment, fact).map(([which, drawn]) => {
    return move('recordMoney', [which, drawn(0)], (store, lane) =>
      store.recordMoney(keyOf(lane, which), drawn(lane)),
    );
  }),
  fc
    .tuple(payment, fc.record({ owner, leaseMs: lease, maxSends: fc.constant(3), earlierPayment }))
    .map((drawn) => {
      return move('beginSend', drawn, (store, lane) => store.beginSend(keyOf(lane, drawn[0]), drawn[1]));
    }),
  fc
    .tuple(payment, fc.constantFrom('complete', 'complete', 'abandoned', 'abandoned', 'closed'))
    .map((drawn) => {
      const note = noteOf(drawn[1]);
      return move('deliver', drawn, (store, lane) => store.deliver(keyOf(lane, drawn[0]), note));
    }),
  payment.map((which) => move('find', which, (store, lane) => store.find(keyOf(lane, which)))),
  payment.map((which) => move('readAnswer', which, (store, lane) => store.readAnswer(keyOf(lane, which)))),
  payment.map((which) => move('readPayload', which, (store, lane) => store.readPayload(keyOf(lane, which)))),
);

function noteOf(kind: string): DeliveryNote {
  if (kind === 'complete') return { kind, keepMs: 60_000 };
  return kind === 'closed' ? { kind, reference: 'ticket' } : { kind: 'abandoned' };
}

const anyMove = fc.oneof(
  { weight: 4, arbitrary: take },
  { weight: 4, arbitrary: held },
  { weight: 4, arbitrary: free },
);
const round: fc.Arbitrary<Round> = fc.record({
  passMs: fc.oneof(fc.constant(0), fc.nat({ max: 60_000 }), fc.constant(2 * 3_600_000)),
  moves: fc.array(anyMove, { minLength: lanes, maxLength: lanes }),
});

/**
 * Compares `sequences` random histories. A difference fails with the seed and with the history of its lane, which
 * is short enough to read; shrinking whole rounds would take minutes.
 */
export async function compareHistories(open: OpenStore, sequences: number, seed: number): Promise<void> {
  const histories = fc.array(round, { minLength: 15, maxLength: 25, size: 'max' });
  const property = fc.asyncProperty(histories, (rounds) => compare(open, rounds));
  const numRuns = Math.ceil(sequences / lanes);
  const { failed, errorInstance } = await fc.check(property, { seed, numRuns, endOnFailure: true });
  if (failed) throw new Error(`Seed ${seed}: ${String(errorInstance)}`, { cause: errorInstance });
}

async function compare(open: OpenStore, rounds: readonly Round[]): Promise<void> {
  const subject = await open({});
  let nowMs = exampleNowMs;
  const reference = createMemoryStore({ world: { nowMs: () => nowMs } });
  try {
    for (const { passMs, moves } of rounds) {
      nowMs += passMs;
      await subject.setClock(nowMs);
      await compareRound({ store: subject.store, reference, rounds }, moves);
    }
    nowMs += 2 * 86_400_000;
    await subject.setClock(nowMs);
    await compareWhole(subject.store, reference);
  } finally {
    await subject.close();
  }
}

type Comparison = {
  readonly store: ClaimStore;
  readonly reference: ClaimStore;
  readonly rounds: readonly Round[];
};

async function compareRound({ store, reference, rounds }: Comparison, moves: readonly Move[]): Promise<void> {
  const said = await Promise.all(moves.map((one, lane) => one.run(store, lane)));
  const expected = await Promise.all(moves.map((one, lane) => one.run(reference, lane)));
  for (const [lane, one] of moves.entries()) {
    const until = rounds.findIndex((round) => round.moves === moves) + 1;
    const steps = rounds.slice(0, until).map((round) => `\n+${round.passMs} ms ${round.moves[lane]?.name}`);
    const history = `${one.name} in lane ${lane} after${steps.join('')}`;
    assert.deepEqual(plain(said[lane]), plain(expected[lane]), history);
  }
}

async function compareWhole(store: ClaimStore, reference: ClaimStore): Promise<void> {
  const whole = async (one: ClaimStore): Promise<unknown> => ({
    list: (await one.list({ limit: 1_000 })).map(encodeRecord).map(plain),
    due: (await one.due(1_000)).map((record) => record.key),
    unproven: (await one.unproven(1_000)).map((record) => record.key),
    unknown: (await one.list({ limit: 1_000, money: 'unknown' })).map((record) => record.key),
    pruned: await one.prune(1_000),
    left: (await one.list({ limit: 1_000 })).map((record) => record.key),
  });
  assert.deepEqual(await whole(store), await whole(reference));
}

/** As JSON, with amounts and octets as text: the order and the prototypes of objects are no part of the contract. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, asText);
  return text === undefined ? undefined : JSON.parse(text);
}

function asText(_name: string, member: unknown): unknown {
  if (typeof member === 'bigint') return `${member}n`;
  return member instanceof Uint8Array ? `bytes ${Buffer.from(member).toString('hex')}` : member;
}
