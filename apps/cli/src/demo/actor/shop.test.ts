import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Actor } from '../process/spawn.ts';
import { startShop } from './shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-shop-'));
after(() => rmSync(folder, { recursive: true }));

const config = {
  network: 'eip155:31337',
  payTo: '0x02',
  facilitatorUrl: 'http://127.0.0.1:1',
  asset: { address: '0x01', symbol: 'USD', decimals: 6, name: 'Dollar', version: '2' },
  workMs: 5,
} as const;

function shopThat(start: string): string {
  const file = join(folder, `${start.length}.mjs`);
  const serve = pathToFileURL(join(import.meta.dirname, '..', 'process', 'serve.ts')).href;
  const counts = "() => ({ begun: { '/weather': 2 }, runs: [{ path: '/weather', startMs: 1, endMs: 2 }] })";
  writeFileSync(
    file,
    `import { serveParent } from '${serve}';\nserveParent({ start: ${start}, counts: ${counts} }, async () => {});`,
  );
  return file;
}

test('a seller process is reached at the port it names, and tells its counts', async () => {
  const shop = await startShop(
    { name: 'seller', file: shopThat('(config) => ({ port: config.workMs })') },
    config,
  );
  assert.deepEqual([shop.origin, shop.port], ['http://127.0.0.1:5', 5]);
  assert.equal((await shop.counts()).begun['/weather'], 2);
  await shop.actor.stop();
});

test('a seller that cannot start is told, and its process is known to whoever must end it', async () => {
  const actors: Actor[] = [];
  const file = shopThat("() => { throw new Error('no key') }");
  const about = { name: 'seller', file, onActor: (actor: Actor) => void actors.push(actor) };
  await assert.rejects(startShop(about, config), /The seller process: no key/);
  assert.equal(actors.length, 1);
  await Promise.all(actors.map((actor) => actor.stop()));
});
