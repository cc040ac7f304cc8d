/** The suite itself must be able to fail: each store here breaks one rule, and some case has to say so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleNowMs } from '../claim/example.ts';
import type { ClaimStore, TakeOutcome } from '../claim/index.ts';
import { compareHistories } from './conformance/random.ts';
import { claimStoreCases, type OpenStore, runStoreCase } from './conformance.ts';
import { createMemoryStore, type MemoryStoreOptions } from './memory.ts';

type Break = (store: ClaimStore, options: MemoryStoreOptions) => Partial<ClaimStore>;

/** A memory store with some of its methods replaced. */
function broken(change: Break): OpenStore {
  return async (limits) => {
    let nowMs = exampleNowMs;
    const options = { world: { nowMs: () => nowMs }, ...limits };
    const store = createMemoryStore(options);
    return {
      store: { ...store, ...change(store, options) },
      setClock: (at) => {
        nowMs = at;
      },
      close: store.close,
    };
  };
}

async function brokenSentences(open: OpenStore): Promise<readonly string[]> {
  const found: string[] = [];
  for (const one of claimStoreCases(false)) {
    try {
      await runStoreCase(one, open);
    } catch {
      found.push(one.name);
    }
  }
  return found;
}

/** Lets a loser win all the same. */
function everybodyWins(outcome: TakeOutcome): TakeOutcome {
  if (outcome.kind !== 'known') return outcome;
  const { record, nowMs } = outcome;
  return { kind: 'taken', hold: { key: record.key, owner: 'x', fence: record.fence }, record, nowMs };
}

const defects: { readonly [sentence: string]: Break } = {
  'gives one payment to everybody': (store) => ({
    take: async (request) => everybodyWins(await store.take(request)),
  }),
  'keeps two halves that do not know each other': (store, options) => {
    const halves = [store, createMemoryStore(options)];
    let turn = 0;
    return { take: (request) => halves[turn++ % 2]?.take(request) ?? store.take(request) };
  },
  'lets anybody beat': (store) => ({
    heartbeat: async ({ key }, leaseMs) => {
      const { record, nowMs } = await store.find(key);
      const lease = record?.lease;
      if (record === undefined || lease === undefined) return { kind: 'lost', nowMs };
      return store.heartbeat({ key, owner: lease.owner, fence: lease.fence }, leaseMs);
    },
  }),
  'gives back for somebody else': (store) => ({
    release: async (hold) => {
      const lease = (await store.find(hold.key)).record?.lease;
      return store.release({ ...hold, owner: lease?.owner ?? '', fence: lease?.fence ?? 0 });
    },
  }),
  'counts leases in seconds': (store) => ({
    take: ({ times, ...request }) => {
      const leaseMs = Math.max(1, Math.floor(times.leaseMs / 1_000));
      return store.take({ ...request, times: { ...times, leaseMs } });
    },
  }),
  'never looks for an earlier payment': (store) => ({
    take: (request) => store.take({ ...request, earlierPayment: 'off' }),
  }),
  'does not know payment identifiers': (store) => ({
    take: ({ purchase: { alias: _, ...purchase }, ...request }) => store.take({ ...request, purchase }),
  }),
  'lends without limit': (store) => ({
    take: ({ exposure: _, ...request }) => store.take(request),
  }),
  'never looks again at what settled': () => ({ unproven: async () => [] }),
  'closes what its owner still holds': (store) => ({
    deliver: async (key, note) => {
      const outcome = await store.deliver(key, note);
      return note.kind === 'closed' ? { ...outcome, changed: true } : outcome;
    },
  }),
  'looks for its identifier after it has taken the payment': (store) => ({
    take: async (request) => {
      const { alias: _, ...purchase } = request.purchase;
      const outcome = await store.take({ ...request, purchase });
      return outcome.kind === 'taken' ? store.take(request) : outcome;
    },
  }),
  'believes every refusal': (store) => ({
    recordMoney: (key, fact) =>
      store.recordMoney(key, fact.fact === 'refused' ? { ...fact, by: 'chain' } : fact),
  }),
  'forgets the payload': (store) => ({ ...store, readPayload: async () => undefined }),
  'cuts an answer': (store) => ({
    readAnswer: async (key) => (await store.readAnswer(key))?.subarray(0, 65_536),
  }),
  'hands out what it keeps': (store) => {
    const handed = new Map<string, Uint8Array>();
    return {
      readAnswer: async (key) => {
        const answer = handed.get(key) ?? (await store.readAnswer(key));
        if (answer !== undefined) handed.set(key, answer);
        return answer;
      },
    };
  },
  'goes by a clock of its own': (store) => ({
    find: async (key) => ({ ...(await store.find(key)), nowMs: Date.now() }),
  }),
  'has nothing due': () => ({ due: async () => [] }),
  'starts every page anew': (store) => ({ list: ({ after: _, ...query }) => store.list(query) }),
  'sends without bound': (store) => ({
    beginSend: (key, send) => store.beginSend(key, { ...send, maxSends: 99 }),
  }),
  'keeps answers for ever': (store) => ({
    deliver: (key, note) =>
      store.deliver(key, note.kind === 'complete' ? { ...note, keepMs: 10 ** 15 } : note),
  }),
  'answers after it was closed': () => ({ close: async () => undefined }),
};

for (const [sentence, change] of Object.entries(defects)) {
  test(`the suite notices a store that ${sentence}`, async () => {
    const found = await brokenSentences(broken(change));
    assert.ok(found.length > 0);
  });
}

test('the suite notices a store without a capacity', async () => {
  const found = await brokenSentences(async () => broken(() => ({}))({}));
  assert.ok(found.every((name) => name.startsWith('C08')));
  assert.ok(found.length >= 4);
});

test('a store that keeps every rule passes every case', async () => {
  assert.deepEqual(await brokenSentences(broken(() => ({}))), []);
});

test('the names of the cases are all different', () => {
  const names = claimStoreCases(true).map((one) => one.name);
  assert.equal(new Set(names).size, names.length);
});

test('random histories notice one wrong answer among many right ones', async () => {
  const change: Break = (store) => ({
    fail: async (hold) => {
      const outcome = await store.fail(hold);
      return outcome.kind === 'lost' ? { ...outcome, nowMs: outcome.nowMs + 1 } : outcome;
    },
  });
  await assert.rejects(compareHistories(broken(change), 50, 1), /fail \[.*\] in lane/);
});
