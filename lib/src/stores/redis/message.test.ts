import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleHex, exampleNowMs, examplePurchase } from '../../claim/example.ts';
import { type ClaimRecord, encodeRecord } from '../../claim/index.ts';
import type { Attempt } from '../optimistic/remote.ts';
import { legiblePairsOf, messageOf, momentOf, pairsOf, recordsOf, sightOf, versionedOf } from './message.ts';

const limits = { capacity: 5, capacityBytes: 50, clock: () => 7 };
const record: ClaimRecord = {
  ...examplePurchase(1),
  work: { state: 'running' },
  money: { state: 'none' },
  fence: 1,
  attempts: 1,
  lease: { owner: 'a', fence: 1, untilMs: exampleNowMs + 5 },
  sendLog: [],
  sends: 0,
  createdAtMs: exampleNowMs,
  updatedAtMs: exampleNowMs,
};
const older: ClaimRecord = { ...record, key: exampleHex(2) };
const twins = { network: 'n', payer: 'p', payTo: 't', fingerprint: 'f' };

/** A step over one payment that also writes an older one, which it saw in a list. */
const attempt: Attempt = {
  asks: { keys: [record.key], older: { twins, limit: 2 }, room: true },
  expected: {
    nowMs: exampleNowMs,
    records: new Map([[record.key, undefined]]),
    older: [{ record: older, version: 'v2' }],
    full: false,
  },
  writes: [
    { key: record.key, record },
    { key: older.key, record: older },
  ],
  blobs: { key: record.key, answer: new Uint8Array(1), payload: null },
};

test('a second record that a step writes is compared by the version that was seen of it in a list', () => {
  const asked = JSON.parse(messageOf(attempt, limits).asked);
  assert.deepEqual(asked.keys, [record.key, older.key]);
  assert.deepEqual(asked.versions, ['', 'v2']);
  assert.deepEqual(asked.older.versions, ['v2']);
  assert.deepEqual(asked.room, { records: 5, octets: 50, expected: false });
  assert.deepEqual(asked.blobs, { key: record.key, answer: 'put', payload: 'drop' });
  assert.equal(asked.clock, '7');
  assert.equal(asked.exposure, undefined);
});

test('C15: no version is ever given twice, whatever the server has lost in between', () => {
  const given = Array.from({ length: 500 }, () => messageOf(attempt, limits).versions).flat();
  assert.equal(new Set(given).size, 1_000);
});

test('a moment beyond what a number can name is the last one that it can', () => {
  const endless = { ...record, validBeforeMs: Number.MAX_VALUE };
  const { texts } = messageOf({ ...attempt, writes: [{ key: record.key, record: endless }] }, limits);
  assert.equal(JSON.parse(texts[1] ?? '').forget, Number.MAX_SAFE_INTEGER);
});

test('of a deletion there is no text, and of what is written the text of the record and what it is searched by', () => {
  const gone = { ...attempt, writes: [{ key: record.key, record: null }, ...attempt.writes.slice(1)] };
  const { asked, texts } = messageOf(gone, limits);
  assert.deepEqual(JSON.parse(asked).writes[0], { key: record.key });
  assert.deepEqual(texts.slice(0, 3), ['', '', encodeRecord(older)]);
  assert.equal(JSON.parse(texts[3] ?? '').key, older.key);
});

test('what the server has seen comes back by key, and only what was asked for', () => {
  const said = ['1800000000001', [['v1', encodeRecord(record)]], [['v2', encodeRecord(older)]], [], 1, 1];
  const sight = sightOf(said, attempt);
  assert.equal(sight.nowMs, 1_800_000_000_001);
  assert.deepEqual(sight.records.get(record.key), { version: 'v1', record });
  assert.deepEqual(sight.older, [{ version: 'v2', record: older }]);
  assert.equal(sight.full, true);
  assert.deepEqual([sight.aliased, sight.mustPayFirst], [undefined, undefined]);
});

test('an answer that no script of ours gives is damage, and is never read as an empty store', () => {
  const corrupt = { code: 'store_corrupt' };
  assert.throws(() => sightOf(0, attempt), corrupt);
  assert.throws(() => sightOf(['x', [], [], [], 0, 0], attempt), corrupt);
  assert.throws(() => sightOf(['1', [], [['', '']], [], 0, 0], attempt), corrupt);
  assert.throws(() => momentOf(5), corrupt);
  assert.throws(() => momentOf('1e5'), corrupt);
  assert.throws(() => versionedOf('v', undefined), corrupt);
  assert.throws(() => versionedOf('v', ''), SyntaxError);
  assert.throws(() => pairsOf([5]), corrupt);
  assert.throws(() => recordsOf([5]), corrupt);
  assert.throws(() => legiblePairsOf([['v', null]]), corrupt);
  assert.deepEqual(recordsOf([null, '{}']), [undefined, undefined], 'which a list leaves out');
  assert.deepEqual(
    legiblePairsOf([
      ['', ''],
      ['v', '{}'],
    ]),
    [undefined, undefined],
  );
  assert.equal(versionedOf('', ''), undefined);
});
