/**
 * The process of one server: it opens the shop that it is told to, one after the other, and says what it spent. Only
 * the packages of its own maker are loaded.
 */
import { createServer, type Server } from 'node:http';
import { readObject, readText } from '../process/read.ts';
import { serveParent } from '../process/serve.ts';
import { createWork, type Work } from './goods.ts';
import { closeServer, listen } from './listen.ts';
import { beginProfile, type Profile } from './profile.ts';
import { type Premises, readOrder, type Shop } from './shop.ts';

type Open = { readonly server: Server; readonly shop: Shop; readonly work: Work };

let open: Open | undefined;
let profile: Profile | undefined;

async function openShop(input: unknown): Promise<{ readonly port: number }> {
  const order = readOrder(input);
  await closeShop();
  // The origin is part of what is sold, so the port comes first.
  const server = createServer();
  const port = await listen(server);
  const work = createWork(order.goods.workMs);
  const shop = await shopOf({ ...order, work, origin: `http://127.0.0.1:${port}` });
  server.on('request', shop.listener);
  open = { server, shop, work };
  return { port };
}

async function shopOf(premises: Premises): Promise<Shop> {
  switch (premises.variant.maker) {
    case 'bare':
      return (await import('./bare.ts')).openBare(premises);
    case 'official':
      return (await import('./official.ts')).openOfficial(premises);
    case 'ours':
      return (await import('./ours.ts')).openOurs(premises);
    default:
      return premises.variant.maker satisfies never;
  }
}

async function closeShop(): Promise<void> {
  if (open === undefined) return;
  const { server, shop } = open;
  open = undefined;
  await closeServer(server);
  await shop.close();
}

/** The median of a few reads, after a few more to warm up; 0 where there is no store. */
async function storeRoundTripMs(): Promise<number> {
  const read = open?.shop.storeRoundTrip;
  if (read === undefined) return 0;
  const times: number[] = [];
  for (let at = 0; at < 100; at += 1) {
    const startMs = performance.now();
    await read();
    times.push(performance.now() - startMs);
  }
  return times.slice(50).sort((a, b) => a - b)[25] ?? 0;
}

/** Microseconds of CPU, user and system, of all threads of this process. */
function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

serveParent(
  {
    open: openShop,
    close: closeShop,
    cost: () => ({ cpuMicros: cpuMicros(), runs: open?.work.runs() ?? 0 }),
    storeRoundTrip: async () => ({ tookMs: await storeRoundTripMs() }),
    beginProfile: async () => {
      profile = await beginProfile();
    },
    endProfile: async (input) => ({
      hot: await profile?.end(readText(readObject(input, 'profile'), 'file')),
    }),
  },
  closeShop,
);
