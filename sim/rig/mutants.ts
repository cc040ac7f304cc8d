/**
 * Sellers with one rule taken away, each as a store or a facilitator that does something else than it was asked. They
 * show that the simulator can fail; each is named after the rule that it breaks.
 */
import type { ClaimStore, Hold, MoneyFact } from '../../lib/src/claim/index.ts';
import type { Facilitator } from '../../lib/src/settlement/index.ts';
import type { Scenario } from '../scenario.ts';
import { lease } from '../shop.ts';
import type { MutantView, Mutation } from '../stage.ts';

export type Mutant = {
  readonly breaks: string;
  readonly mutation: Mutation;
  /** What the simulator must say of it. */
  readonly says: RegExp;
  /** The world in which it shows soonest. */
  readonly scenario?: Partial<Scenario>;
};

type Bend = (store: ClaimStore, view: MutantView) => Partial<ClaimStore>;

/** The store with some of its methods bent; the others work as they do. */
function bent(bend: Bend): Mutation {
  return { store: (store, view) => ({ ...store, ...bend(store, view) }) };
}

/** The hold that the record's newest owner has, whoever asks. */
function stolen(view: MutantView, hold: Hold): Hold {
  const owner = view.peek(hold.key)?.lease;
  return owner === undefined ? hold : { key: hold.key, owner: owner.owner, fence: owner.fence };
}

function facts(change: (fact: MoneyFact, key: string, view: MutantView) => MoneyFact | undefined): Mutation {
  return bent((store, view) => ({
    recordMoney: async (key, fact) => {
      const bad = change(fact, key, view);
      if (bad !== undefined) return store.recordMoney(key, bad);
      const record = view.peek(key);
      return { changed: true, nowMs: 0, ...(record === undefined ? {} : { record }) };
    },
  }));
}

const otherOctets = (facilitator: Facilitator): Facilitator => {
  const sent = new Set<string>();
  return {
    ...facilitator,
    settle: (question) => {
      const text = JSON.stringify(question.payment);
      const payment = sent.has(text) ? { ...question.payment, again: true } : question.payment;
      sent.add(text);
      return facilitator.settle({ ...question, payment });
    },
  };
};

const calmWorld: Partial<Scenario> = { lies: false, reorganises: false, clocks: 'right', names: false };
const workFirst: Partial<Scenario> = { ...calmWorld, flow: 'authorization', assurance: 'said' };
const moneyFirst: Partial<Scenario> = { ...calmWorld, flow: 'upfront', assurance: 'said' };

export const mutants: readonly Mutant[] = [
  {
    breaks: 'the fence: whoever comes back acts for the newest owner',
    mutation: bent((store, view) => ({
      keepAndBeginSend: (hold, send) => store.keepAndBeginSend(stolen(view, hold), send),
      fail: (hold) => store.fail(stolen(view, hold)),
      release: (hold) => store.release(stolen(view, hold)),
    })),
    says: /^I6: \w+ by .*, who is not the newest owner/,
    scenario: workFirst,
  },
  {
    breaks: 'the grace: work is taken over when the lease ends',
    mutation: bent((store) => ({
      take: (request) => store.take({ ...request, times: { ...request.times, graceMs: 0 } }),
    })),
    says: /^I1: a new owner in the grace/,
    scenario: workFirst,
  },
  {
    breaks: 'the lease: a claim is taken over while its owner lives',
    mutation: bent((store, view) => ({
      take: (request) => view.shifted(lease.leaseMs + lease.graceMs, () => store.take(request)),
    })),
    says: /^I1: a new owner while the lease/,
    scenario: workFirst,
  },
  {
    breaks: 'the end of a lease: a heartbeat revives what is over',
    mutation: bent((store, view) => ({
      heartbeat: (hold, leaseMs) => view.shifted(-60_000, () => store.heartbeat(hold, leaseMs + 60_000)),
    })),
    says: /^I1: a heartbeat revived/,
    scenario: workFirst,
  },
  {
    breaks: 'doubt: a lost answer is taken for a refusal',
    mutation: facts((fact) =>
      fact.fact === 'unknown'
        ? { fact: 'refused', why: 'definite', reason: 'lost', by: 'facilitator', n: fact.n }
        : fact,
    ),
    says: /^S3: refused, and nobody said no/,
  },
  {
    breaks: 'doubt: a lost answer is taken for a success, and the goods leave',
    mutation: facts((fact) =>
      fact.fact === 'unknown'
        ? { fact: 'settled', transaction: `0x${'5'.repeat(64)}`, amount: 10_000n, by: 'facilitator' }
        : fact,
    ),
    says: /^I2: (?:settled, and nobody said so|served before it was paid)/,
    scenario: workFirst,
  },
  {
    breaks: 'doubt: a lost answer is taken for bytes that never left',
    mutation: facts((fact, key, view) => {
      const owner = view.peek(key)?.lease;
      if (fact.fact !== 'unknown' || owner === undefined) return fact;
      return { fact: 'unsent', n: fact.n, hold: { key, owner: owner.owner, fence: owner.fence } };
    }),
    says: /^S3: taken back, and bytes had left/,
  },
  {
    breaks: 'identical octets: a re-send is a message of its own',
    mutation: { facilitator: otherOctets },
    says: /^S3: P\d+ was sent again with other octets/,
  },
  {
    breaks: 'the kept answer: it is gone while it is owed',
    mutation: bent(() => ({ readAnswer: async () => undefined })),
    says: /^(?:I7: the send began before|S4, I4: P\d+ was paid and is lost|S4)/,
    scenario: workFirst,
  },
  {
    breaks: 'delivery: a client that left counts as served',
    mutation: bent((store) => ({
      deliver: (key, note) =>
        store.deliver(key, note.kind === 'abandoned' ? { kind: 'complete', keepMs: 600_000 } : note),
    })),
    says: /^S4: noted as delivered, and nobody got it/,
  },
  {
    breaks: 'the end of an unsent payment: that it is dead is said, and not written',
    mutation: facts((fact) => (fact.fact === 'retired' ? undefined : fact)),
    says: /^I5: said to be dead/,
    scenario: workFirst,
  },
  {
    breaks: 'the earlier payment: nobody looks for one',
    mutation: bent((store) => ({
      take: (request) => store.take({ ...request, earlierPayment: 'off' }),
      beginSend: (key, send) => store.beginSend(key, { ...send, earlierPayment: 'off' }),
    })),
    says: /^S3: P\d+ was in doubt and P\d+ was charged as well/,
    scenario: { ...moneyFirst, binding: 'echoed' },
  },
  {
    breaks: 'the bound on attempts: a payment runs the handler as often as it is shown',
    mutation: bent((store) => ({
      take: (request) => store.take({ ...request, purchase: { ...request.purchase, maxAttempts: 9 } }),
    })),
    says: /^(?:S1: .* is one attempt too many|not in the model)/,
    scenario: workFirst,
  },
  {
    breaks: 'the identifier: two payments under one name are both taken',
    mutation: bent((store) => ({
      take: (request) => {
        const { alias: _alias, ...purchase } = request.purchase;
        return store.take({ ...request, purchase });
      },
    })),
    says: /^S3: P\d+ and P\d+ have one name and were both charged/,
    scenario: { ...moneyFirst, names: true },
  },
];
