import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CHAIN_ID, findAnvil, startAnvil } from './anvil.ts';
import { createClients } from './client.ts';
import { DevnetError } from './failure.ts';

/** More blocks than anvil keeps in memory when it is allowed to write to the disk. */
const MANY_BLOCKS = 700;

async function leftOnDisk(): Promise<readonly string[]> {
  return readdir(join(homedir(), '.foundry', 'anvil', 'tmp')).catch(() => []);
}

describe('the anvil process', () => {
  test('it runs chain 31337 on a free port of this machine and leaves nothing on the disk', async () => {
    const before = await leftOnDisk();
    const anvil = await startAnvil({ port: 0, accounts: 4 });
    try {
      const { reader, control } = createClients(anvil.url);
      assert.equal(await reader.getChainId(), CHAIN_ID);
      assert.match(anvil.url, /^http:\/\/127\.0\.0\.1:\d+$/);
      await control.mine({ blocks: MANY_BLOCKS });
      assert.equal(await reader.getBlockNumber(), BigInt(MANY_BLOCKS));
      assert.deepEqual(await leftOnDisk(), before);
      const latest = await reader.getBlockNumber();
      const finalized = await reader.getBlock({ blockTag: 'finalized' });
      assert.equal(finalized.number, latest - 2n);
    } finally {
      await anvil.stop();
    }
    assert.equal(anvil.running(), false);
    await assert.rejects(fetch(anvil.url));
  });

  test('stopping twice is the same as stopping once', async () => {
    const anvil = await startAnvil({ port: 0, accounts: 1 });
    await Promise.all([anvil.stop(), anvil.stop()]);
    await anvil.stop();
    assert.match(await anvil.exited, /^anvil ended with /);
  });

  test('a taken port is named', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      await assert.rejects(startAnvil({ port, accounts: 1 }), (error: unknown) => {
        assert.ok(error instanceof DevnetError);
        assert.equal(error.code, 'port_taken');
        assert.match(error.message, new RegExp(`${port}`));
        return true;
      });
    } finally {
      other.close();
    }
  });

  test('a machine without its anvil is told the line to run', () => {
    const missing = process.platform === 'darwin' ? 'win32' : 'darwin';
    assert.throws(() => findAnvil(missing, 'x64'), {
      code: 'anvil_missing',
      message: new RegExp(`npm install .*@foundry-rs/anvil-${missing}-amd64@1\\.7\\.1`),
    });
    assert.throws(() => findAnvil('sunos', 'x64'), { code: 'anvil_missing' });
  });
});
