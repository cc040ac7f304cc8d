/** H04 with the gates themselves: nobody has paid, so no priced handler may run, whatever the target. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLuck } from '../../test/luck.ts';
import { createRig } from '../../test/rig.ts';
import { type Gated, gatedStreets } from './rig/gated.ts';
import { askInside } from './rig/inside.ts';
import type { Handler } from './rig/street.ts';
import { type Bent, bend } from './rig/targets.ts';
import { octets, open, serve } from './rig/wire.ts';

const seed = Number(process.env.PATHS_SEED ?? 2_026);

type Street = {
  readonly gated: readonly Gated[];
  /** The handlers that ran since this was last asked. */
  readonly ran: () => readonly Handler[];
};

function openStreet(): Street {
  let ran: Handler[] = [];
  const gated = gatedStreets(createRig().seller, (handler) => ran.push(handler));
  return {
    gated,
    ran: () => {
      const since = ran;
      ran = [];
      return since;
    },
  };
}

/** Gates at single handlers close no prefix. */
function faultOf(name: string, status: number, ran: readonly Handler[]): string | undefined {
  const paid = ran.find(({ kind }) => kind === 'priced');
  if (paid !== undefined) return `${paid.name} ran`;
  if (ran.some(({ kind }) => kind === 'unlisted') && !name.includes('gates at'))
    return 'a closed path was served';
  return status >= 500 || status === 0 ? `status ${status}` : undefined;
}

/** Plain targets that must be asked a price, and what must pass, so that the fuzz cannot be quiet for nothing. */
const honest: readonly (readonly [bent: Bent, status: number])[] = [
  [{ method: 'GET', target: '/weather' }, 402],
  [{ method: 'HEAD', target: '/weather' }, 402],
  [{ method: 'GET', target: '/item/7?x=1' }, 402],
  [{ method: 'GET', target: '/files/a/b' }, 402],
  [{ method: 'GET', target: '/api/deep/a/b' }, 402],
  [{ method: 'GET', target: '/about' }, 200],
  [{ method: 'DELETE', target: '/item/7' }, 200],
  [{ method: 'GET', target: '/api/health' }, 200],
];

test('an honest target is asked its price or let through by every gate', async () => {
  const street = openStreet();
  for (const { name, listener } of street.gated) {
    for (const [bent, status] of honest) {
      assert.equal(await askInside(listener, bent), status, `${bent.method} ${bent.target} at ${name}`);
      const isFree = status === 200;
      assert.deepEqual(
        street.ran().map(({ kind }) => kind),
        isFree ? ['free'] : [],
        `${bent.target} at ${name}`,
      );
    }
  }
});

test('H04: behind the gates of every adapter nothing priced runs for any of twenty thousand bent targets', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const luck = createLuck(seed + 1);
  const street = openStreet();
  const statuses = new Map<number, number>();
  for (let at = 0; at < 20_000; at += 1) {
    const bent = bend(luck);
    const { name, listener } = luck.pick(street.gated);
    const status = await askInside(listener, bent);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    assert.equal(
      faultOf(name, status, street.ran()),
      undefined,
      `${JSON.stringify(bent)} at ${name}, seed ${seed}`,
    );
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(statuses)));
  for (const status of [200, 400, 402, 404, 405])
    assert.ok((statuses.get(status) ?? 0) > 100, String(status));
});

test('H04: nor for three hundred that each of them is sent over sockets, octet for octet', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const luck = createLuck(seed + 2);
  const street = openStreet();
  for (const { name, listener } of street.gated) {
    const port = await serve(t, listener);
    for (let at = 0; at < 300; at += 1) {
      const bent = bend(luck);
      const wire = open(port);
      wire.send(octets(bent));
      await wire.closed;
      const status = Number(wire.soFar().split(' ')[1]);
      assert.equal(
        faultOf(name, status, street.ran()),
        undefined,
        `${JSON.stringify(bent)} at ${name}, seed ${seed}`,
      );
    }
  }
});
