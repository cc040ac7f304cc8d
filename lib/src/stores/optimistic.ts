/**
 * The store contract over a server that only compares and writes. The rules of `claim/` run here, over what this process
 * last saw; the server applies the step if nothing of that has changed, and otherwise says what is there, and the step
 * runs again. So every store obeys the same rules, and a payment that nobody contests costs one round trip a step.
 * Source: Kung and Robinson, "On Optimistic Methods for Concurrency Control".
 */
import { type ClaimStore, forgetAnswer } from '../claim/index.ts';
import { storeOver } from './contract.ts';
import { StoreError } from './error.ts';
import { type Answers, type Operation, operate, type Questions, roomLimit } from './operations.ts';
import { type Clock, createClock } from './optimistic/clock.ts';
import { createMemory, type Memory } from './optimistic/memory.ts';
import type { Asks, Attempt, Remote, Sight } from './optimistic/remote.ts';
import { createScene } from './optimistic/scene.ts';

/**
 * Each lost round means that somebody else's step was applied, so the store as a whole moves on; fifty copies of one
 * payment need three. More than this is a server that contradicts itself.
 */
const maxRounds = 64;

/**
 * A claim store over a server. `monotonicMs` is this process's own running time; where a test sets the server's clock,
 * that clock, so that every step decides for exactly the time that was set.
 */
export function optimisticStore(
  remote: Remote,
  about: { readonly durable: boolean; readonly monotonicMs: () => number },
): ClaimStore {
  const engine: Engine = { remote, memory: createMemory(), clock: createClock(about.monotonicMs) };
  const underWay = new Set<Promise<unknown>>();
  let closed = false;
  return storeOver(
    async (operation, question) => {
      if (closed) throw new StoreError('store_closed', `The store on ${remote.name} is closed.`);
      const running = run(engine, operation, question);
      underWay.add(running);
      try {
        return await running;
      } finally {
        underWay.delete(running);
      }
    },
    {
      name: remote.name,
      durable: about.durable,
      close: async () => {
        if (closed) return;
        closed = true;
        // What was accepted is finished; the server's own time limits bound it.
        await Promise.allSettled(underWay);
        await remote.close();
      },
    },
  );
}

type Engine = { readonly remote: Remote; readonly memory: Memory; readonly clock: Clock };

type Plain = {
  readonly [O in Operation]?: (engine: Engine, question: Questions[O]) => Promise<Answers[O]>;
};

/** What needs no step: looking, listing, and forgetting. */
const plain: Plain = {
  find: async ({ remote, memory, clock }, { key }) => {
    const { found, nowMs } = await remote.find(key);
    clock.hear(nowMs);
    memory.note(key, found);
    return found === undefined ? { nowMs } : { record: found.record, nowMs };
  },
  readAnswer: ({ remote }, { key }) => remote.answer(key),
  readPayload: ({ remote }, { key }) => remote.payload(key),
  due: ({ remote }, { limit }) => remote.due(limit),
  unproven: ({ remote }, { limit }) => remote.unproven(limit),
  list: ({ remote }, query) => remote.list(query),
  prune: (engine, { limit }) => prune(engine, limit),
};

async function run<O extends Operation>(
  engine: Engine,
  operation: O,
  question: Questions[O],
): Promise<Answers[O]> {
  const simple = plain[operation];
  return simple === undefined ? step(engine, operation, question) : simple(engine, question);
}

async function step<O extends Operation>(
  engine: Engine,
  operation: O,
  question: Questions[O],
): Promise<Answers[O]> {
  const { remote, memory, clock } = engine;
  let seen: { readonly asks: Asks; readonly sight: Sight } | undefined;
  let roomMade = false;
  for (let round = 0; round < maxRounds; round += 1) {
    const scene = createScene(seen?.sight, { nowMs: clock.guessMs(), record: memory.recall });
    const answer = operate(scene.table, operation, question);
    const attempt = scene.attempt();
    // The server's own view of one moment, and nothing to write: that is the answer.
    if (attempt.writes.length === 0 && seen !== undefined && covers(seen.asks, attempt.asks)) return answer;
    const verdict = await remote.attempt(attempt);
    if (verdict.applied) {
      remember(memory, attempt, verdict.versions);
      return answer;
    }
    const { sight } = verdict;
    if (sight.nowMs < attempt.expected.nowMs) clock.correct(sight.nowMs);
    else clock.hear(sight.nowMs);
    for (const [key, found] of sight.records) memory.note(key, found);
    const makesRoom = sight.full === true && !roomMade;
    if (makesRoom) roomMade = true;
    // Whatever was forgotten, what was seen of the room is not so any more.
    seen = makesRoom && (await prune(engine, roomLimit)) > 0 ? undefined : { asks: attempt.asks, sight };
  }
  throw new StoreError('store_busy', `A step was overtaken ${maxRounds} times.`);
}

/** True where everything that is asked now was asked before, word for word. */
function covers(before: Asks, now: Asks): boolean {
  const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
  return (
    now.keys.every((key) => before.keys.includes(key)) &&
    (now.older === undefined || same(now.older, before.older)) &&
    (now.aliased === undefined || same(now.aliased, before.aliased)) &&
    (now.exposure === undefined || same(now.exposure, before.exposure)) &&
    (now.room === undefined || before.room === true)
  );
}

function remember(memory: Memory, attempt: Attempt, versions: readonly string[]): void {
  for (const [place, { key, record }] of attempt.writes.entries()) {
    const version = versions[place];
    memory.note(key, record === null || version === undefined ? undefined : { record, version });
  }
}

/** Forgets what retention allows; an answer that was asked for in between stays until the next time. */
async function prune({ remote, memory, clock }: Engine, limit: number): Promise<number> {
  const gone = await remote.expire(limit);
  const stale = await remote.stale(limit);
  clock.hear(stale.nowMs);
  for (const one of stale.found) {
    const { key } = one.record;
    const nowMs = clock.guessMs();
    const { record, answer } = forgetAnswer(one.record, nowMs);
    memory.note(key, undefined);
    if (record === undefined || answer === undefined) continue;
    await remote.attempt({
      asks: { keys: [key] },
      expected: { nowMs, records: new Map([[key, one]]) },
      writes: [{ key, record }],
      blobs: { key, answer },
    });
  }
  return gone;
}
