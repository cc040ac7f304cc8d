/**
 * Whether the indexes and the counters of a store say what its records say, after any history. What is expected is made
 * out from the records alone, by the rules of `claim/`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { keysOf, newPlace, type Place } from '../../../test/redis.ts';
import { exampleHex, exampleNowMs, examplePurchase } from '../../claim/example.ts';
import { type ClaimRecord, decodeRecord } from '../../claim/index.ts';
import { columnsOf } from '../columns.ts';
import type { OpenStore } from '../conformance/bench.ts';
import { compareHistories } from '../conformance/random.ts';
import { openRedisStore } from '../redis.ts';

type Kept = {
  readonly records: ReadonlyMap<string, ClaimRecord>;
  /** Entries as `index kind, key, score`; names of groups are digests, so that only their kind is compared. */
  readonly entries: readonly string[];
  readonly octets: number;
  readonly counted: readonly (string | null)[];
};

/** Everything under a prefix, as it is. */
async function kept(redis: Redis, place: Place): Promise<Kept> {
  const prefix = keysOf(place);
  const names = (await redis.keys(`${prefix}*`)).map((name) => name.slice(prefix.length));
  const records = new Map<string, ClaimRecord>();
  const entries: string[] = [];
  let octets = 0;
  for (const name of names) {
    const [kind = '', rest = ''] = [name.split(':')[0], name.slice(name.indexOf(':') + 1)];
    if (kind === 'r') records.set(rest, decodeRecord((await redis.hget(prefix + name, 'b')) ?? ''));
    else if (kind === 'a' || kind === 'p') octets += await redis.strlen(prefix + name);
    else if (!['size', 'layout', 'id'].includes(name)) {
      const members = await redis.zrange(prefix + name, '0', '-1', 'WITHSCORES');
      const index = kind === 'money' || kind === 'alias' ? name : kind;
      for (let at = 0; at < members.length; at += 2)
        entries.push(`${index} ${members[at]} ${members[at + 1]}`);
    }
  }
  return { records, entries, octets, counted: await redis.hmget(`${prefix}size`, 'records', 'octets') };
}

function entriesOf(record: ClaimRecord): readonly string[] {
  const { key, createdMs, money, ...columns } = columnsOf(record);
  const aged = `${String(createdMs).padStart(16, '0')}:${key}`;
  const entry = (index: string, member: string, score: number | undefined): readonly string[] =>
    score === undefined ? [] : [`${index} ${member} ${score}`];
  const { alias, exposed, openUntilMs } = columns;
  return [
    ...entry('keys', key, 0),
    ...entry(`money:${money}`, key, 0),
    ...entry('older', aged, columns.blocksFromMs),
    ...entry(`alias:${alias}`, aged, alias === undefined ? undefined : 0),
    ...entry('open', key, openUntilMs),
    ...entry('unpaid', key, exposed !== undefined && openUntilMs === undefined ? 0 : undefined),
    ...entry('due', aged, columns.dueFromMs),
    ...entry('proof', aged, columns.proofFromMs),
    ...entry('forget', key, columns.forgetAtMs),
    ...entry('stale', key, columns.answerForgetAtMs),
  ];
}

async function assertAgree(redis: Redis, place: Place): Promise<number> {
  const { records, entries, octets, counted } = await kept(redis, place);
  const expected = [...records.values()].flatMap(entriesOf);
  assert.deepEqual(entries.toSorted(), expected.toSorted());
  assert.deepEqual(counted.map(Number), [records.size, octets]);
  return records.size;
}

test('the indexes and the counters of a store agree with its records all through random histories', async () => {
  const seed = 20_261_201;
  let looks = 0;
  let seen = 0;
  const open: OpenStore = async (limits) => {
    const place = await newPlace();
    const redis = new Redis(place.url);
    let nowMs = exampleNowMs;
    const store = await openRedisStore({ ...place, ...limits, clock: () => nowMs });
    const agree = async (): Promise<void> => {
      looks += 1;
      seen = Math.max(seen, await assertAgree(redis, place));
    };
    return {
      store,
      setClock: async (at) => {
        await agree();
        nowMs = at;
      },
      close: async () => {
        await agree();
        redis.disconnect();
        await store.close();
      },
    };
  };
  await compareHistories(open, 100, seed);
  assert.ok(looks > 30 && seen > 50, `${looks} looks at up to ${seen} records`);
});

test('payments whose end lies beyond all moments stand in the indexes as those that end last', async () => {
  const place = await newPlace();
  const redis = new Redis(place.url);
  const store = await openRedisStore({ ...place, clock: () => exampleNowMs });
  const { requirement } = examplePurchase(1);
  const endless = examplePurchase(1, { validBeforeMs: 2 ** 80, requirement });
  const owner = { owner: 'a', times: { leaseMs: 1_000, graceMs: 0 } };
  const rules = { earlierPayment: 'serve', mayReplaceRequest: true } as const;
  await store.take({ purchase: endless, ...owner, ...rules });
  const score = await redis.zscore(`${keysOf(place)}forget`, exampleHex(1));
  assert.equal(Number(score), Number.MAX_SAFE_INTEGER);
  assert.equal((await store.find(exampleHex(1))).record?.validBeforeMs, 2 ** 80);
  redis.disconnect();
  await store.close();
});
