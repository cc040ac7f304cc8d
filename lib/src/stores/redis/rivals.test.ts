/** Several processes on one store, and a server that is killed. This file is also what the children run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRedis } from '../../../../tools/servers/redis.ts';
import { ask, keysOf, newPlace, type Place } from '../../../test/redis.ts';
import { keys, killUnderLoad, playRival, raceRivals } from '../../../test/rivals.ts';
import type { ClaimStore } from '../../claim/index.ts';
import { openRedisStore } from '../redis.ts';

const open = (place: Place): Promise<ClaimStore> => openRedisStore({ ...place, timeoutMs: 30_000 });

if (!(await playRival(open))) registerTests();

function registerTests(): void {
  test('C02, C15: eight stores here and four processes beside claim three hundred payments, and each has one winner', async () => {
    const place = await newPlace();
    await raceRivals(import.meta.filename, place, open);
    assert.equal(await ask(place.url, ['HGET', `${keysOf(place)}size`, 'records']), String(keys));
  });

  test('C04, C15: kill -9 of the server in the middle of a load loses no claim that was answered', async () => {
    const server = await startRedis({ appendfsync: 'always' });
    await killUnderLoad(server, () => openRedisStore({ url: server.url }));
    await server.stop();
  });
}
