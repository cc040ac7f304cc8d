/**
 * One seller of a fleet, in a process of its own: Express, a real store, a real chain, and a facilitator that breaks.
 * It sells `GET /<flow>?work=<ms>&size=<octets>` and does what the orders say when it reaches their point.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { flushCompileCache } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { paid } from 'counterfoil/adapters/express';
import { createSeller, type RouteRequest, type SellerEvent, type WorkContext } from 'counterfoil/seller';
import { createChainReader, createFacilitator, createRpc, httpTransport } from 'counterfoil/settlement';
import { createSystem } from 'counterfoil/system';
import { defineAsset } from 'counterfoil/terms';
import express, { type Express, type RequestHandler } from 'express';
import { flows } from '../round/point.ts';
import { cutShort } from './cut.ts';
import { goods, journalIn, origin, price, type SellerConfig, type Told } from './goods.ts';
import { type Entry, writeEntry } from './journal.ts';
import { mortalFacilitator, mortalSeller, mortalStore, type Reach } from './mortal.ts';
import { isOrdered, takeOrder } from './orders.ts';
import { openStore } from './store.ts';

async function main(config: SellerConfig): Promise<void> {
  // Whoever started it is gone, or closes the fleet.
  process.once('disconnect', () => process.exit());
  // Ctrl-C in a terminal comes to whole groups of processes; who started it decides what comes of that.
  process.on('SIGINT', () => {});
  const { name, folder } = config;
  const note = (entry: Omit<Entry, 'atMs' | 'who'>): void =>
    writeEntry(journalIn(folder), { who: name, ...entry });
  const reach = createReach(folder, note);
  const world = await createSystem();
  const { http } = world;
  const real = createFacilitator(httpTransport({ url: config.facilitatorUrl, http }));
  const { network, dollar, payTo, rpcUrl, lease } = config;
  const seller = createSeller({
    world,
    store: mortalStore(await openStore(config.store, world), reach),
    facilitator: mortalFacilitator(real, reach),
    chains: { [network]: createChainReader(createRpc({ url: rpcUrl, http })) },
    origin,
    // Whoever restarts a seller asks it at its port of the day, as a proxy would.
    trustProxy: ['127.0.0.1'],
    accepts: [{ network, payTo }],
    assets: [defineAsset({ ...dollar, network, dollar: true })],
    storeKey: new Uint8Array(32).fill(7),
    lease,
    // Every fault must reach the seller; that it stops asking a facilitator that fails is tested elsewhere.
    breaker: 'off',
    observe: (event) => note(noteOf(event)),
  });
  const app = express();
  app.disable('x-powered-by');
  app.use(cutter(folder, note));
  for (const flow of flows) {
    const { settleMs, attempts } = config;
    const route = seller.route({ method: 'GET', path: `/${flow}`, price, flow, settleMs, attempts });
    const gate = paid(mortalSeller(seller, reach), route);
    app.get(`/${flow}`, gate, async (request, response) => {
      const body = await work(gate.context(request), { note, reach });
      response.type('text/plain').send(body);
    });
  }
  await seller.ready();
  const url = await listen(app);
  // The next process starts with what this one has compiled.
  flushCompileCache();
  tell({ kind: 'open', url });
}

type Note = (entry: Omit<Entry, 'atMs' | 'who'>) => void;

/** Nothing of this process runs after it: no handler, no flush, no goodbye. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

function tell(told: Told): void {
  process.send?.(told, undefined, {}, () => {});
}

function createReach(folder: string, note: Note): Reach {
  return async (point, payment) => {
    const order = payment === '' ? undefined : takeOrder(folder, { point, payment });
    if (order === undefined) return;
    const { act, nonce } = order;
    note({ what: act === 'halt' ? 'halt' : 'death', nonce, text: point });
    switch (act) {
      case 'die':
        die();
        break;
      case 'report':
        tell({ kind: 'reached', point });
        break;
      case 'halt': {
        const gone = new Promise((resolve) => process.once('message', resolve));
        tell({ kind: 'reached', point });
        await gone;
        break;
      }
      default:
        act satisfies never;
    }
  };
}

/** Puts the knife to connections that carry a payment whose long answer is to be cut. */
function cutter(folder: string, note: Note): RequestHandler {
  return (request, _response, next) => {
    const header = request.headers['payment-signature'];
    const where = { point: 'delivering', payment: typeof header === 'string' ? header : '' } as const;
    if (where.payment !== '' && isOrdered(folder, where)) {
      const isDue = (): boolean => {
        const order = takeOrder(folder, where);
        if (order !== undefined) note({ what: 'death', nonce: order.nonce, text: 'delivering' });
        return order !== undefined;
      };
      cutShort(request.socket, isDue, die);
    }
    next();
  };
}

/** Takes as long and answers as much as the request asks; an answer names the payment and the run that made it. */
async function work(
  { request, attempt, idempotencyKey, signal }: WorkContext<RouteRequest>,
  { note, reach }: { readonly note: Note; readonly reach: Reach },
): Promise<string> {
  const key = idempotencyKey.slice(0, idempotencyKey.lastIndexOf('#'));
  const nonce = key.slice(key.lastIndexOf('/') + 1);
  note({ what: 'run', nonce, text: String(attempt) });
  let over = false;
  signal.addEventListener('abort', () => {
    if (!over) note({ what: 'lost', nonce, text: `run ${attempt} does not count any more` });
  });
  const { searchParams } = new URL(request.url);
  const half = Number(searchParams.get('work')) / 2;
  await pause(half);
  await reach('working', key);
  await pause(half);
  over = true;
  note({ what: 'ran', nonce, text: String(attempt) });
  return goods(nonce, attempt, Number(searchParams.get('size')));
}

function noteOf(event: SellerEvent): Omit<Entry, 'atMs' | 'who'> {
  const { event: text, ...rest } = event;
  const key = 'key' in event ? event.key : undefined;
  const nonce = key?.slice(key.lastIndexOf('/') + 1);
  const more = Object.entries(rest)
    .filter(([name]) => name !== 'key' && name !== 'route')
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return {
    what: 'event',
    text: [text, ...more].join(', '),
    ...(nonce === undefined ? {} : { nonce }),
  };
}

async function listen(app: Express): Promise<string> {
  const server = createServer(app);
  const opened = Promise.withResolvers<void>();
  server.once('error', opened.reject);
  server.listen(0, '127.0.0.1', opened.resolve);
  await opened.promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The seller has no port.');
  return `http://127.0.0.1:${address.port}`;
}

if (process.argv[1] === import.meta.filename) {
  main(JSON.parse(process.argv[2] ?? '{}')).catch((fault: unknown) => {
    writeFileSync(2, `${fault instanceof Error ? fault.stack : String(fault)}\n`);
    process.exit(1);
  });
}
