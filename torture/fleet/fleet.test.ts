import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { SellerConfig } from '../seller/goods.ts';
import { startFleet } from './fleet.ts';
import { longTiming } from './ground.ts';
import { takeSeat } from './seat.ts';

const network = 'eip155:31337';
const token = `0x${'11'.repeat(20)}`;
const payTo = `0x${'22'.repeat(20)}`;
/** Nothing listens there; a seller that reads no chain yet does not mind. */
const nowhere = 'http://127.0.0.1:9';

function config(facilitatorUrl: string): Omit<SellerConfig, 'name' | 'folder'> {
  const dollar = { address: token, decimals: 6, name: 'Local USD', symbol: 'LOCALUSD', version: '2' };
  const place = { store: { kind: 'memory' }, rpcUrl: nowhere, facilitatorUrl } as const;
  return { network, dollar, payTo, attempts: 2, ...place, ...longTiming };
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-seat-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The address of something that says what a facilitator supports, and no more. */
async function supporting(t: TestContext): Promise<string> {
  const kinds = [{ x402Version: 2, scheme: 'exact', network }];
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ kinds, extensions: [], signers: {} }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const bound = server.address();
  assert.ok(typeof bound === 'object' && bound !== null);
  return `http://127.0.0.1:${bound.port}`;
}

test('a seller that does not start is a fault of the rig, with its last words', async (t) => {
  const options = { ...config(nowhere), size: 2, cache: folderOf(t) };
  await assert.rejects(startFleet(options), {
    name: 'RigError',
    message: /^p[12] ended \(1\): .*facilitator/s,
  });
});

test('a seller that is killed has a successor at its seat, and whoever waits for that hears of it', async (t) => {
  const folder = folderOf(t);
  const seat = takeSeat({
    config: { ...config(await supporting(t)), name: 'p1', folder },
    cache: folder,
    onTold: () => {},
  });
  t.after(() => seat.close());
  const first = await seat.url();
  assert.equal(seat.kills(), 0);
  const killed = seat.killed(1);
  seat.signal('SIGKILL');
  await killed;
  await seat.killed(1);
  const second = await seat.url();
  assert.notEqual(second, first);
  assert.equal((await fetch(`${second}/upfront`)).status, 402);
  await assert.rejects(fetch(first));
  // Any other end is nothing that was ordered, and no round goes on as if nothing had been.
  seat.signal('SIGTERM');
  await assert.rejects(
    async () => {
      for (;;) await fetch(await seat.url()).catch(() => {});
    },
    { name: 'RigError', message: /p1 ended \(SIGTERM\)/ },
  );
});

test('a seller ends with whoever started it', async (t) => {
  const folder = folderOf(t);
  const told = JSON.stringify({ ...config(await supporting(t)), name: 'p1', folder });
  const child = fork(join(import.meta.dirname, '../seller/program.ts'), [told]);
  const ended = once(child, 'exit');
  t.after(() => child.kill('SIGKILL'));
  await Promise.race([once(child, 'message'), ended]);
  // What a killed parent leaves behind is a channel that closes.
  child.disconnect();
  assert.deepEqual(await ended, [0, null]);
});
