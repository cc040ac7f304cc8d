import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readState, writeState } from './state.ts';

const ABOUT = { chainId: 31337, dollar: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0', buyers: 6 };
const DUMP = gzipSync('{"block":{}}');

describe('the state file', () => {
  let folder = '';
  let count = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterfoil-state-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const fresh = (): string => {
    count += 1;
    return join(folder, `${count}.state`);
  };

  test('what was written is read back, for the owner only, with nothing left beside it', async () => {
    const file = fresh();
    assert.equal(await readState(file, 31337), undefined);
    const digest = await writeState(file, { about: ABOUT, dump: DUMP, expected: undefined });
    const saved = await readState(file, 31337);
    assert.deepEqual(saved?.head, { ...ABOUT, sha256: digest });
    assert.equal(saved?.json.toString(), '{"block":{}}');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });

  test('a state of another chain is refused and kept', async () => {
    const file = fresh();
    await writeState(file, { about: { ...ABOUT, chainId: 8453 }, dump: DUMP, expected: undefined });
    const bytes = await readFile(file);
    await assert.rejects(readState(file, 31337), { code: 'state_other_chain', message: /8453.*31337/ });
    assert.deepEqual(await readFile(file), bytes);
  });

  test('every truncation and every flipped bit of the dump is noticed, and the file is kept', async () => {
    const file = fresh();
    await writeState(file, { about: ABOUT, dump: DUMP, expected: undefined });
    const whole = await readFile(file);
    const broken = [
      ...Array.from({ length: whole.length }, (_, length) => whole.subarray(0, length)),
      ...Array.from({ length: DUMP.length }, (_, i) => flip(whole, whole.length - 1 - i)),
    ];
    for (const bytes of broken) {
      await writeFile(file, bytes);
      await assert.rejects(readState(file, 31337), { code: 'state_corrupt' });
      assert.deepEqual(await readFile(file), bytes);
    }
  });

  test('a file that is something else is never overwritten', async () => {
    const file = fresh();
    await writeFile(file, 'my thesis\n');
    await assert.rejects(readState(file, 31337), {
      code: 'state_corrupt',
      message: /not a devnet state file/,
    });
    const write = writeState(file, { about: ABOUT, dump: DUMP, expected: undefined });
    await assert.rejects(write, { code: 'state_changed' });
    assert.equal(await readFile(file, 'utf8'), 'my thesis\n');
  });

  test('a state that another devnet has written meanwhile is not overwritten', async () => {
    const file = fresh();
    const mine = await writeState(file, { about: ABOUT, dump: DUMP, expected: undefined });
    const theirs = await writeState(file, { about: ABOUT, dump: gzipSync('{"x":1}'), expected: mine });
    const again = writeState(file, { about: ABOUT, dump: DUMP, expected: mine });
    await assert.rejects(again, { code: 'state_changed' });
    assert.equal((await readState(file, 31337))?.head.sha256, theirs);
  });

  test('a place that cannot be written is named', async () => {
    const file = join(folder, 'no', 'such', 'folder.state');
    const write = writeState(file, { about: ABOUT, dump: DUMP, expected: undefined });
    await assert.rejects(write, { code: 'state_unwritable', message: /folder\.state/ });
  });
});

function flip(bytes: Buffer, index: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
}
