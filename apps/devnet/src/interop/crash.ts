/**
 * A seller in a process of its own, with a store on disk, that kills itself with SIGKILL at a named point: the program
 * behind the crash tests. The library has no hooks for this; the store, the facilitator and the work are wrapped.
 */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { paid } from 'counterfoil/adapters/express';
import type { ClaimStore } from 'counterfoil/claim';
import { createSeller, type LeaseSettings } from 'counterfoil/seller';
import {
  createChainReader,
  createFacilitator,
  createRpc,
  type Facilitator,
  httpTransport,
} from 'counterfoil/settlement';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { createSystem } from 'counterfoil/system';
import express from 'express';
import type { Devnet } from '../devnet.ts';
import { listenLocal } from '../http.ts';
import { assetOf } from './asset.ts';
import type { Flow } from './market.ts';

/** Where the process ends: right after the step of this name, before anybody hears of it. */
export type CrashPoint =
  | 'taken'
  | 'working'
  | 'kept'
  | 'answered'
  | 'recorded'
  | 'started'
  | 'finished'
  | 'written';

export type CrashConfig = {
  readonly dollar: Devnet['dollar'];
  readonly network: Devnet['network'];
  readonly payTo: string;
  readonly rpcUrl: string;
  readonly facilitatorUrl: string;
  readonly storePath: string;
  /** Gets a line for each start of the work. */
  readonly runsPath: string;
  readonly flow: Flow;
  readonly crashAt?: CrashPoint;
};

/** Short, so that a restart need not be waited for; long against the pauses of a busy machine. */
const lease: LeaseSettings = { leaseMs: 2_000, heartbeatMs: 300, marginMs: 500, graceMs: 200 };
const settleMs = 1_000;
/** The same through every restart, unlike the port: what is bought is named by it. */
const origin = 'https://shop.example';

/** Sells `GET /weather` until its standard input closes; prints its URL once it is open. */
async function main(config: CrashConfig): Promise<void> {
  process.stdin.resume().once('close', () => process.exit());
  const world = await createSystem();
  const { http } = world;
  const facilitator = createFacilitator(httpTransport({ url: config.facilitatorUrl, http }));
  const seller = createSeller({
    world,
    store: mortalStore(await openSqliteStore({ path: config.storePath }), config.crashAt),
    facilitator: mortalFacilitator(facilitator, config.crashAt),
    chains: { [config.network]: createChainReader(createRpc({ url: config.rpcUrl, http })) },
    origin,
    // Whoever restarts a seller asks it at its port of the day, as a proxy would.
    trustProxy: ['127.0.0.1'],
    accepts: [{ network: config.network, payTo: config.payTo }],
    assets: [assetOf(config)],
    storeKey: new Uint8Array(32).fill(7),
    lease,
  });
  const { flow } = config;
  const gate = paid(
    seller,
    seller.route({ method: 'GET', path: '/weather', price: '$0.01', flow, settleMs }),
  );
  const app = express();
  app.get('/weather', gate, (_request, response) => {
    appendFileSync(config.runsPath, 'run\n');
    if (config.crashAt === 'working') die();
    response.type('text/plain').send('sunny');
  });
  await seller.ready();
  const port = await listenLocal(createServer(app), 0);
  process.stdout.write(`http://127.0.0.1:${port}/weather\n`);
}

/** Nothing of this process runs after it: no handler, no flush, no goodbye. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

function mortalFacilitator(real: Facilitator, crashAt: CrashPoint | undefined): Facilitator {
  return { ...real, settle: dieAfter(real.settle, crashAt === 'answered') };
}

function mortalStore(real: ClaimStore, crashAt: CrashPoint | undefined): ClaimStore {
  return {
    ...real,
    take: dieAfter(real.take, crashAt === 'taken'),
    keepAndBeginSend: dieAfter(real.keepAndBeginSend, crashAt === 'kept'),
    recordMoney: dieAfter(real.recordMoney, crashAt === 'recorded'),
    startWork: dieAfter(real.startWork, crashAt === 'started'),
    finish: dieAfter(real.finish, crashAt === 'finished'),
    // The answer has left when its delivery is noted.
    deliver: async (key, note) => {
      if (crashAt === 'written') die();
      return real.deliver(key, note);
    },
  };
}

function dieAfter<Args extends readonly unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
  dies: boolean,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const result = await call(...args);
    if (dies) die();
    return result;
  };
}

if (process.argv[1] === import.meta.filename) await main(JSON.parse(process.argv[2] ?? '{}'));
