/** Several processes on one schema, and a server that is killed. This file is also what the children run. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { startPostgres } from '../../../../tools/servers/postgres.ts';
import { newPlace, type Place, sql } from '../../../test/postgres.ts';
import { keys, killUnderLoad, playRival, raceRivals } from '../../../test/rivals.ts';
import { exampleHex } from '../../claim/example.ts';
import type { ClaimStore } from '../../claim/index.ts';
import { openPostgresStore } from '../postgres.ts';

/** Fewer connections each, since all of them together share the hundred of a server. */
const open = (place: Place): Promise<ClaimStore> =>
  openPostgresStore({ ...place, poolSize: 4, timeoutMs: 30_000 });

if (!(await playRival(open))) registerTests();

function registerTests(): void {
  test('C02, C15: eight stores here and four processes beside claim three hundred payments, and each has one winner', async () => {
    const place = await newPlace();
    await raceRivals(import.meta.filename, place, open);
    const [counted] = await sql(
      place.url,
      `SELECT sum(records)::integer AS records FROM ${place.schema}.tally`,
    );
    assert.equal(counted?.records, keys);
  });

  test('a program that forgets to close its store ends all the same, and has lost nothing', async () => {
    const place = await newPlace();
    const program = `
      import { examplePurchase, exampleTake } from '${new URL('../../claim/example.ts', import.meta.url)}';
      import { openPostgresStore } from '${new URL('../postgres.ts', import.meta.url)}';
      const store = await openPostgresStore(${JSON.stringify(place)});
      await store.take(exampleTake(examplePurchase(1)));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' });
    const said: Buffer[] = [];
    child.stderr.on('data', (bytes: Buffer) => said.push(bytes));
    assert.deepEqual(await once(child, 'close'), [0, null]);
    assert.equal(Buffer.concat(said).toString(), '', 'and says nothing');
    const store = await openPostgresStore(place);
    assert.equal((await store.find(exampleHex(1))).record?.attempts, 1);
    await store.close();
  });

  test('C04: kill -9 of the server in the middle of a load loses no claim that was answered', async () => {
    const server = await startPostgres();
    const { url } = server;
    await killUnderLoad(server, () => openPostgresStore({ url }));
    // What was open before goes on as soon as the server is there again.
    const store = await openPostgresStore({ url });
    await server.kill();
    await server.restart();
    assert.equal((await store.find(exampleHex(1))).record?.attempts, 1);
    await store.close();
    await server.stop();
  });
}
