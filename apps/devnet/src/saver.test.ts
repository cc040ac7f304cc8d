import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { dumpBytes, type Saver, type SaverOptions, startSaver } from './saver.ts';
import { readState } from './state.ts';

describe('saving while the chain runs', () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterfoil-saver-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const saverOf = (name: string, over: Partial<SaverOptions> = {}): Saver =>
    startSaver({
      file: join(folder, name),
      about: { chainId: 31337, dollar: '0x00', buyers: 1 },
      known: undefined,
      mark: async () => 'a',
      dump: async () => gzipSync('{}'),
      warn: () => {},
      everyMs: 5,
      ...over,
    });

  test('saves that are asked for together are written one after another', async () => {
    let now = 0;
    let most = 0;
    let written = 0;
    const saver = saverOf('order', {
      everyMs: 60_000,
      dump: async () => {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        written += 1;
        return gzipSync(String(written));
      },
    });
    await Promise.all([saver.save(), saver.save(), saver.save()]);
    await saver.stop();
    assert.equal(most, 1);
    assert.equal((await readState(join(folder, 'order'), 31337))?.json.toString(), '3');
  });

  test('a moved chain is saved without being asked', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const saver = saverOf('moving', {
      dump: async () => {
        resolve();
        return gzipSync('{}');
      },
    });
    await promise;
    await saver.stop();
    assert.notEqual(await readState(join(folder, 'moving'), 31337), undefined);
  });

  test('a background save that fails is reported once for each try, and the file of another is kept', async () => {
    const file = join(folder, 'foreign');
    await writeFile(file, 'not ours\n');
    const { promise, resolve } = Promise.withResolvers<string>();
    const saver = saverOf('foreign', { warn: resolve });
    assert.match(await promise, /not saved: .*changed by somebody else/);
    await saver.stop();
    await assert.rejects(saver.save(), { code: 'state_changed' });
    assert.equal(await readFile(file, 'utf8'), 'not ours\n');
  });

  test('only a hex answer is a dump', () => {
    const zipped = gzipSync('{}');
    const bytes = dumpBytes(`0x${zipped.toString('hex')}`);
    assert.equal(gunzipSync(bytes).toString(), '{}');
    for (const wrong of [undefined, 7, 'abc'])
      assert.throws(() => dumpBytes(wrong), { code: 'anvil_failed' });
  });
});
