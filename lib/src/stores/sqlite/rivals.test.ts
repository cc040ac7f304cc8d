/**
 * Several processes on one file, and processes that are killed. This file is also what the children run: with the
 * word `rival` as first argument it claims keys and reports each answer to its parent.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { exampleHex, examplePurchase, exampleTake } from '../../claim/example.ts';
import { openSqliteStore } from '../sqlite.ts';

const keys = 500;
const rivals = 4;
const identifiers = 200;
const killRounds = 6;
const acknowledgedPerRound = 120;
const childWord = 'rival';

/** What a child tells its parent. */
type Word =
  | { readonly said: 'ready' | 'finished' }
  | { readonly said: 'won' | 'sent' | 'known' | 'conflict'; readonly n: number };
type Task = {
  readonly path: string;
  readonly name: string;
  readonly first: number;
  readonly count: number;
  readonly send: boolean;
  /** Its payments are its own, and it shares only their identifiers with the others; the number of the process. */
  readonly aliased?: number;
};

if (process.argv[2] === childWord) await rival(JSON.parse(process.argv[3] ?? '{}'));
else registerTests();

/** Claims its keys, many at once, and says what became of each as soon as the store has answered. */
async function rival(task: Task): Promise<void> {
  const say = (word: Word): void => void process.send?.(word);
  const store = await openSqliteStore({ path: task.path, busyMs: 20_000 });
  say({ said: 'ready' });
  await once(process, 'message');
  const claim = async (n: number): Promise<void> => {
    const { aliased } = task;
    const more =
      aliased === undefined ? {} : { alias: exampleHex(n), key: exampleHex(n + aliased * 100_000) };
    const purchase = examplePurchase(n, { payer: `payer ${n}`, ...more });
    const outcome = await store.take(exampleTake(purchase, { owner: `${task.name} ${n}` }));
    const lost = outcome.kind === 'alias_conflict' ? 'conflict' : 'known';
    say({ said: outcome.kind === 'taken' ? 'won' : lost, n });
    if (outcome.kind !== 'taken' || !task.send) return;
    const bytes = new Uint8Array(3_000).fill(n % 251);
    const step = { answer: bytes, payload: bytes.subarray(0, 500), phase: 'pay', leaseMs: 60_000 } as const;
    const kept = await store.keepAndBeginSend(outcome.hold, step);
    if (kept.kind === 'held') say({ said: 'sent', n });
  };
  for (let at = task.first; at < task.first + task.count; at += 25) {
    await Promise.all(Array.from({ length: 25 }, (_, i) => claim(at + i)));
  }
  await store.close();
  say({ said: 'finished' });
  process.disconnect();
}

type Child = {
  readonly process: ChildProcess;
  readonly words: Word[];
  readonly heard: () => Promise<void>;
  readonly exited: Promise<void>;
};

async function start(task: Task): Promise<Child> {
  const child = fork(import.meta.filename, [childWord, JSON.stringify(task)], { execArgv: [] });
  const words: Word[] = [];
  child.on('message', (word: Word) => words.push(word));
  const exited = once(child, 'exit').then(() => undefined);
  const heard = async (): Promise<void> => {
    await Promise.race([once(child, 'message'), exited]);
    assert.equal(child.exitCode, null, 'a child ended before its time');
  };
  await heard();
  return { process: child, words, heard, exited };
}

async function inFolder(work: (path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-rivals-'));
  try {
    await work(join(folder, 'claims.sqlite'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function registerTests(): void {
  test('C02, S1: four processes that open one new file together give each of five hundred payments one winner', () =>
    inFolder(async (path) => {
      const task = { path, first: 0, count: keys, send: false };
      const names = Array.from({ length: rivals }, (_, i) => `process ${i}`);
      const children = await Promise.all(names.map((name) => start({ ...task, name })));
      for (const child of children) child.process.send('go');
      await Promise.all(children.map((child) => child.exited));
      const winners = new Map<number, number>();
      for (const word of children.flatMap((child) => child.words)) {
        if (word.said === 'won') winners.set(word.n, (winners.get(word.n) ?? 0) + 1);
      }
      assert.equal(winners.size, keys);
      assert.ok([...winners.values()].every((count) => count === 1));
      const answered = children.flatMap((child) => child.words).filter((word) => 'n' in word);
      assert.equal(answered.length, keys * rivals, 'nobody was turned away');
    }));

  test('C13: four processes that sign two hundred purchases each under the same identifiers are charged once for each', () =>
    inFolder(async (path) => {
      const task = { path, first: 0, count: identifiers, send: true };
      const children = await Promise.all(
        Array.from({ length: rivals }, (_, i) => start({ ...task, name: `process ${i}`, aliased: i })),
      );
      for (const child of children) child.process.send('go');
      await Promise.all(children.map((child) => child.exited));
      const said = (what: Word['said']): readonly number[] =>
        children
          .flatMap((child) => child.words)
          .flatMap((word) => ('n' in word && word.said === what ? [word.n] : []));
      assert.deepEqual(new Set(said('won')).size, identifiers);
      assert.equal(said('won').length, identifiers);
      assert.equal(said('sent').length, identifiers, 'and each of them goes on');
      assert.equal(said('conflict').length, identifiers * (rivals - 1), 'the others are told why');
      const store = await openSqliteStore({ path });
      assert.equal((await store.list({ limit: 1_000 })).length, identifiers, 'nothing is stored for them');
      await store.close();
    }));

  test('a program that forgets to close its store ends all the same, and has lost nothing', () =>
    inFolder(async (path) => {
      const claim = new URL('../../claim/example.ts', import.meta.url);
      const program = `
        import { examplePurchase, exampleTake } from '${claim}';
        import { openSqliteStore } from '${new URL('../sqlite.ts', import.meta.url)}';
        const store = await openSqliteStore({ path: ${JSON.stringify(path)} });
        await store.take(exampleTake(examplePurchase(1)));`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' });
      const said: Buffer[] = [];
      child.stderr.on('data', (bytes: Buffer) => said.push(bytes));
      assert.deepEqual(await once(child, 'close'), [0, null]);
      assert.equal(Buffer.concat(said).toString(), '', 'and says nothing');
      const store = await openSqliteStore({ path });
      assert.equal((await store.find(examplePurchase(1).key)).record?.attempts, 1);
      await store.close();
    }));

  test('C04: kill -9 in the middle of a load loses no answered write and leaves no half of one', () =>
    inFolder(async (path) => {
      const won = new Map<number, string>();
      const sent = new Set<number>();
      for (let round = 0; round < killRounds; round += 1) {
        const task = { path, name: `round ${round}`, first: round * 10_000, count: 10_000, send: true };
        const child = await start(task);
        child.process.send('go');
        while (child.words.length < acknowledgedPerRound + round * 17) await child.heard();
        child.process.kill('SIGKILL');
        await child.exited;
        for (const word of child.words) {
          if (word.said === 'won') won.set(word.n, `${task.name} ${word.n}`);
          if (word.said === 'sent') sent.add(word.n);
        }
      }
      await checkKept(path, won, sent);
    }));
}

async function checkKept(path: string, won: Map<number, string>, sent: Set<number>): Promise<void> {
  const store = await openSqliteStore({ path });
  assert.ok(sent.size > 0, 'the load was too short to show anything');
  for (const [n, owner] of won) {
    const { record } = await store.find(examplePurchase(n).key);
    assert.equal(record?.lease?.owner, owner, `payment ${n} was answered and is gone`);
    if (sent.has(n)) assert.equal(record.money.state, 'sending', `the send of ${n} was answered and is gone`);
  }
  let whole = 0;
  for (let after = ''; ; ) {
    const page = await store.list({ limit: 1_000, ...(after === '' ? {} : { after }) });
    for (const record of page) {
      const answer = await store.readAnswer(record.key);
      const payload = await store.readPayload(record.key);
      const isSent = record.money.state === 'sending';
      assert.equal(record.work.state, isSent ? 'done' : 'running');
      assert.deepEqual([answer?.length, payload?.length], isSent ? [3_000, 500] : [undefined, undefined]);
      assert.ok(answer === undefined || answer.every((octet) => octet === answer[0]));
      whole += 1;
    }
    if (page.length < 1_000) break;
    after = page.at(-1)?.key ?? '';
  }
  assert.ok(whole >= won.size);
  await store.close();
}
