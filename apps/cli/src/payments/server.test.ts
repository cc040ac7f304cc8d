import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { before, describe, test } from 'node:test';
import type { ClaimRecord, ClaimStore } from 'counterfoil/claim';
import { openPostgresStore } from 'counterfoil/stores/postgres';
import { openRedisStore } from 'counterfoil/stores/redis';
import { sharedPostgres } from '../../../../tools/servers/postgres.ts';
import { sharedRedis } from '../../../../tools/servers/redis.ts';
import { run } from '../program.ts';
import { base, nonce } from './rig/record.ts';

type Place = { readonly words: readonly string[]; readonly open: () => Promise<ClaimStore> };

/** Each server with the words that name it to a command, and how a seller opens it. */
const servers: Readonly<Record<string, () => Promise<Place>>> = {
  postgres: async () => {
    const { url } = await sharedPostgres();
    const schema = 'command_line';
    return {
      words: ['--store', url, '--schema', schema],
      open: () => openPostgresStore({ url, schema }),
    };
  },
  redis: async () => {
    const { url } = await sharedRedis();
    const prefix = 'command-line';
    return { words: ['--store', url, '--prefix', prefix], open: () => openRedisStore({ url, prefix }) };
  },
};

for (const [name, start] of Object.entries(servers)) {
  describe(`a store on a real server: ${name}`, () => {
    let place: Place;

    type Told = { readonly code: number; readonly out: string; readonly err: string };

    async function ask(words: readonly string[], named: readonly string[] = place.words): Promise<Told> {
      let out = '';
      let err = '';
      const code = await run([...words, ...named], {
        stdout: { write: (text) => (out += text) },
        stderr: { write: (text) => (err += text) },
        stdin: Readable.from([]),
        env: {},
        nowMs: () => Date.now(),
      });
      return { code, out, err };
    }

    before(async () => {
      place = await start();
      const store = await place.open();
      const { work: _work, money: _money, fence: _fence, sendLog: _log, ...rest } = base;
      const purchase = { ...rest, validBeforeMs: Date.now() + 300_000 };
      const times = { leaseMs: 60_000, graceMs: 1_000 };
      const rules = { times, mayReplaceRequest: true, earlierPayment: 'serve' } as const;
      const taken = await store.take({ purchase, owner: 'a:1', ...rules });
      assert.ok(taken.kind === 'taken');
      const bytes = new Uint8Array([1]);
      const send = { answer: bytes, payload: bytes, phase: 'pay', leaseMs: 60_000 } as const;
      await store.keepAndBeginSend(taken.hold, send);
      await store.recordMoney(taken.hold.key, { fact: 'unknown', n: 1, reason: 'timeout' });
      await store.close();
    });

    test('its payments are listed and shown as those of a file are', async () => {
      const listed = await ask(['payments', 'list', '--unknown']);
      assert.equal(listed.code, 0, listed.err);
      assert.match(listed.out, /0x0123456789 +GET \/weather .* unknown +- +done +1\/2/);
      assert.match((await ask(['payments', 'show', nonce])).out, /unknown \(seller\) +timeout/);
      assert.equal((await ask(['payments', 'list', '--reversed'])).err, 'No payment fits.\n');
    });

    test('a name that no store has is not made one by a command, whatever it wanted to do', async () => {
      const typo = [...place.words.slice(0, -1), 'misspelt'];
      for (const words of [['payments', 'list'], ['reconcile'], ['payments', 'list']]) {
        const told = await ask(words, typo);
        assert.deepEqual([told.code, told.out], [3, ''], `${words.join(' ')}: ${told.err}`);
      }
    });

    test('its doubts are reconciled, and what an operator closes is closed', async () => {
      const blind = await ask(['reconcile', '--json']);
      assert.equal(blind.code, 3, blind.err);
      assert.deepEqual((JSON.parse(blind.out) as { unreadableNetworks: string[] }).unreadableNetworks, [
        base.network,
      ]);
      const closed = await ask(['payments', 'close', nonce, '--reference', 'ticket 7', '--yes']);
      assert.equal(closed.code, 0, closed.err);
      const { out } = await ask(['payments', 'show', nonce, '--json']);
      assert.equal((JSON.parse(out) as ClaimRecord).closed?.reference, 'ticket 7');
      assert.equal((await ask(['reconcile'])).code, 0);
    });
  });
}
