/**
 * A file that version 1 of the schema left behind: opened for writing it is brought up to date without a loss, opened
 * for reading it is read as it is. The statements that write it here are those of version 1, word for word.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { exampleHex, exampleNowMs, examplePurchase, exampleTake } from '../../claim/example.ts';
import { type ClaimRecord, type ClaimStore, encodeRecord } from '../../claim/index.ts';
import { openSqliteStore } from '../sqlite.ts';
import { applicationId } from './file.ts';
import { migrations } from './migrations.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-older-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const insertOfVersion1 = `INSERT INTO claims (fingerprint, payer, pay_to, network, flow, money, work, lease_until_ms,
  created_ms, blocks_from_ms, due_from_ms, forget_at_ms, answer_forget_at_ms, body, key)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const answer = new Uint8Array([1, 2, 3]);
const clock = new SharedArrayBuffer(8);
new BigInt64Array(clock)[0] = BigInt(exampleNowMs);

function record(n: number, differing: Partial<ClaimRecord>): ClaimRecord {
  return {
    ...examplePurchase(n),
    work: { state: 'done', partial: false },
    money: { state: 'none' },
    fence: 1,
    attempts: 1,
    sendLog: [],
    sends: 0,
    createdAtMs: exampleNowMs - 1_000,
    updatedAtMs: exampleNowMs,
    ...differing,
  };
}

/** Work that failed unpaid, a settled payment that nobody got, and one whose settlement is unknown. */
const failed = record(1, { work: { state: 'failed' } });
const owed = record(2, {
  money: { state: 'settled', transaction: '0xaa', amount: 10_000n, rank: 'chain' },
  sends: 1,
  answerBytes: answer.length,
});
const unknown = record(3, {
  money: { state: 'unknown', phase: 'pay', n: 1 },
  sends: 1,
  fingerprint: exampleHex(0xbad),
});
const kept: readonly ClaimRecord[] = [failed, owed, unknown];

let files = 0;
/** A store of version 1 with three payments, as its seller closed it. */
function versionOne(): string {
  files += 1;
  const path = join(folder, `${files}.sqlite`);
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA application_id = ${applicationId}`);
  database.exec(
    'CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied_ms INTEGER NOT NULL) STRICT; INSERT INTO migrations VALUES (1, 0)',
  );
  for (const statement of migrations[0]?.statements ?? []) database.exec(statement);
  const insert = database.prepare(insertOfVersion1);
  for (const one of kept) {
    const moments = one === failed ? [null, null] : [0, 0];
    const { fingerprint, payer, payTo, network, flow, money, work, createdAtMs, key } = one;
    const row = [fingerprint, payer, payTo, network, flow, money.state, work.state, 0, createdAtMs];
    insert.run(...row, ...moments, one === failed ? 2 ** 45 : null, null, encodeRecord(one), key);
  }
  database.prepare('INSERT INTO answers (key, bytes) VALUES (?, ?)').run(owed.key, answer);
  database.prepare('UPDATE tally SET records = 3, bytes = ?').run(answer.length);
  database.close();
  return path;
}

async function readsAll(store: ClaimStore): Promise<void> {
  assert.deepEqual(await store.list({ limit: 10 }), kept);
  assert.deepEqual(
    (await store.due(10)).map(({ key }) => key),
    [owed.key, unknown.key],
  );
  assert.deepEqual((await store.find(owed.key)).record, owed);
  assert.deepEqual(await store.readAnswer(owed.key), answer);
  assert.equal(await store.readPayload(owed.key), undefined);
}

function versionsIn(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const found = database.prepare('SELECT version FROM migrations ORDER BY version').all();
  database.close();
  return found.map(({ version }) => version);
}

test('a store of version 1 is brought up to date when its seller starts, and has lost nothing', async () => {
  const path = versionOne();
  assert.deepEqual(versionsIn(path), [1]);
  const store = await openSqliteStore({ path, clock });
  await readsAll(store);
  const earlier = await store.take(exampleTake(examplePurchase(9, { fingerprint: unknown.fingerprint })));
  assert.equal(earlier.kind, 'earlier_unknown', 'its rules go on');
  assert.equal((await store.take(exampleTake(examplePurchase(9)))).kind, 'superseded');
  await store.close();
  assert.deepEqual(
    versionsIn(path),
    migrations.map(({ version }) => version),
  );
});

test('C13: a payment of a store of version 1 takes the identifier of its next attempt, and holds it then', async () => {
  const store = await openSqliteStore({ path: versionOne(), clock });
  const alias = exampleHex(0xa11a5);
  const rules = { earlierPayment: 'off' } as const;
  const again = await store.take(exampleTake(examplePurchase(1, { alias }), rules));
  assert.equal(again.kind, 'taken');
  assert.deepEqual([again.record.attempts, again.record.alias], [2, alias]);
  const other = await store.take(exampleTake(examplePurchase(9, { alias }), rules));
  assert.equal(other.kind, 'alias_conflict');
  assert.equal(other.other.key, failed.key);
  await store.close();
});

test('four sellers that find a store of version 1 together bring it up to date once', async () => {
  const path = versionOne();
  const stores = await Promise.all([1, 2, 3, 4].map(() => openSqliteStore({ path, clock })));
  for (const store of stores) await readsAll(store);
  for (const store of stores) await store.close();
  assert.deepEqual(
    versionsIn(path),
    migrations.map(({ version }) => version),
  );
});

test('a store of version 1 that is only looked at is read as it is, and not one octet changes', async () => {
  const path = versionOne();
  const before = [readFileSync(path), readdirSync(folder)];
  const reader = await openSqliteStore({ path, clock, readOnly: true });
  await readsAll(reader);
  await reader.close();
  assert.deepEqual([readFileSync(path), readdirSync(folder)], before);
});

test('a store of version 1 whose seller starts while it is looked at is read on', async () => {
  const path = versionOne();
  const reader = await openSqliteStore({ path, clock, readOnly: true });
  await readsAll(reader);
  const seller = await openSqliteStore({ path, clock });
  await readsAll(reader);
  await seller.take(exampleTake(examplePurchase(9, { alias: exampleHex(9) }), { earlierPayment: 'off' }));
  assert.equal((await reader.list({ limit: 10 })).length, 4);
  await seller.close();
  await reader.close();
});
