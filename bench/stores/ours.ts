/** Our claim stores as a seller uses them: one take, or the four steps of a paid request. */
import type { ClaimStore, Hold, TakeRequest } from 'counterfoil/claim';
import { createMemoryStore } from 'counterfoil/stores/memory';
import { openPostgresStore } from 'counterfoil/stores/postgres';
import { openRedisStore } from 'counterfoil/stores/redis';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import type { Place, Till } from './contender.ts';

/** More payments than a run makes. */
const capacity = 1_000_000;
/** No lease runs out during a run. */
const leaseMs = 600_000;
/** A sealed answer and a sealed payload of an ordinary size. */
const answer = new Uint8Array(1_024).fill(1);
const payload = new Uint8Array(768).fill(2);

/** Opens our contender of a place. */
export async function openOurs(place: Place): Promise<Till> {
  const store = await openStore(place);
  return {
    take: async (key) => (await store.take(takeOf(key))).kind === 'taken',
    pay: (key) => pay(store, key),
    close: store.close,
  };
}

async function openStore({ contender, at, prefix }: Place): Promise<ClaimStore> {
  switch (contender.store) {
    case 'memory':
      return createMemoryStore({ world: { nowMs: Date.now }, capacity });
    case 'sqlite':
      return openSqliteStore({ path: at, busyMs: 10_000 });
    case 'redis':
      return openRedisStore({ url: at, prefix, capacity });
    case 'postgres':
      return openPostgresStore({ url: at });
    default:
      return contender.store satisfies never;
  }
}

/** Take, keep the answer and begin the send, record the money, note the delivery: what a seller awaits in turn. */
async function pay(store: ClaimStore, key: string): Promise<boolean> {
  const taken = await store.take(takeOf(key));
  if (taken.kind !== 'taken') return false;
  await keep(store, taken.hold);
  const transaction = `0x${key}`;
  const fact = { fact: 'settled', transaction, amount: 10_000n, by: 'facilitator' } as const;
  const settled = await store.recordMoney(key, fact);
  const delivered = await store.deliver(key, { kind: 'complete', keepMs: leaseMs });
  if (settled.changed && delivered.changed) return true;
  throw new Error(`The payment ${key} was lost on its way.`);
}

async function keep(store: ClaimStore, hold: Hold): Promise<void> {
  const kept = await store.keepAndBeginSend(hold, { answer, payload, phase: 'pay', leaseMs });
  if (kept.kind !== 'held') throw new Error(`The claim ${hold.key} was lost on its way.`);
}

const asset = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
const payTo = '0x2222222222222222222222222222222222222222';
const network = 'eip155:8453';
const extra = { name: 'USD Coin', version: '2' };

/** A payer, a request and a signature of its own for each key, as a shop with many customers sees them. */
function takeOf(key: string): TakeRequest {
  const nowMs = Date.now();
  return {
    purchase: {
      key,
      network,
      asset,
      payer: `0x${key.slice(0, 40)}`,
      payTo,
      amount: 10_000n,
      nonce: key,
      fingerprint: key,
      signatureHash: key,
      requirement: { scheme: 'exact', network, amount: 10_000n, asset, payTo, maxTimeoutSeconds: 300, extra },
      route: 'GET /weather',
      resourceUrl: 'https://shop.example/weather',
      flow: 'authorization',
      validAfterMs: 0,
      validBeforeMs: nowMs + leaseMs,
      maxAttempts: 2,
    },
    owner: 'bench',
    times: { leaseMs, graceMs: 5_000 },
    earlierPayment: 'serve',
    mayReplaceRequest: true,
    exposure: { unpaid: 3, open: 32 },
  };
}
