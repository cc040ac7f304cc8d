/**
 * Everything that the demonstration plays on: four processes (chain, our seller, the official seller, and this one
 * as buyer), a folder for our seller's files. Whatever happens, `close` ends every process that was started here.
 */
import { randomFillSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Account, type ChainActor, startChain } from './actor/chain.ts';
import { type SellerConfig, startSeller } from './actor/seller.ts';
import type { ShopActor } from './actor/shop.ts';
import { startStock } from './actor/stock.ts';
import { type Client, createClient } from './buyer/client.ts';
import { type Buyer, createBuyer } from './buyer/wallet.ts';
import type { Actor } from './process/spawn.ts';

/** What a person may choose. */
export type Settings = {
  readonly copies: number;
  readonly workMs: number;
  readonly stateFile?: string | undefined;
  readonly keep: boolean;
};

/** One buyer for each purpose, so that the chain's logs say which part moved which money. */
export type Roles = {
  /** Buys from us in every part but the next three. */
  readonly ours: Account;
  readonly oursAgent: Account;
  readonly oursTwins: Account;
  readonly oursCrash: Account;
  /** Buys from the official seller. */
  readonly stock: Account;
  readonly stockAgent: Account;
};

export type Stage = {
  readonly settings: Settings;
  readonly chain: ChainActor;
  readonly roles: Roles;
  /** The block before the first payment; a kept chain has others before it. */
  readonly fromBlock: bigint;
  /** Our seller as it runs now. */
  readonly ours: () => ShopActor;
  /** Ends our seller (in order, or by SIGKILL) and starts it again at the same port on the same files. */
  readonly stopOurs: (how: 'stop' | 'kill') => Promise<void>;
  readonly startOurs: (timing?: SellerConfig['timing']) => Promise<void>;
  readonly stock: ShopActor;
  /** The address that the official seller is paid at. */
  readonly stockPayTo: `0x${string}`;
  readonly client: Client;
  readonly buyer: (role: keyof Roles) => Buyer;
  /** How often our seller was paid by this account since the demonstration began, as the chain has it. */
  readonly paymentsOf: (payer: `0x${string}`) => Promise<number>;
  readonly storeFile: string;
  readonly folder: string;
  readonly close: () => Promise<void>;
};

/** As many as {@link Roles}, and one who is only paid. */
const accountCount = 7;

/** The twins are this many at the same moment, however small the burst is. */
const leastConnections = 20;

/** Who is told how the boot goes on, and at once how to end everything that it starts. */
export type Watcher = {
  readonly progress: (text: string) => void;
  readonly closable: (close: () => Promise<void>) => void;
};

/** Boots everything; rejects with what failed, after ending what had been started. */
export async function openStage(settings: Settings, watcher: Watcher): Promise<Stage> {
  const actors: Actor[] = [];
  let closing = false;
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-demo-'));
  const client = createClient(Math.max(settings.copies, leastConnections));
  const close = once(async () => {
    closing = true;
    await client.close();
    // Sellers first: what they still ask of the chain is answered while they end.
    for (const actor of actors.toReversed()) await actor.stop();
    if (!settings.keep) rmSync(folder, { recursive: true, force: true });
  });
  const onActor = (actor: Actor): void => {
    actors.push(actor);
    // Interrupted between two starts: nobody will come back for this one.
    if (closing) void actor.kill();
  };
  watcher.closable(close);
  try {
    return await assemble({ settings, progress: watcher.progress, folder, client, close, onActor });
  } catch (fault) {
    await close();
    throw fault;
  }
}

type Parts = {
  readonly settings: Settings;
  readonly progress: (text: string) => void;
  readonly folder: string;
  readonly client: Client;
  readonly close: () => Promise<void>;
  readonly onActor: (actor: Actor) => void;
};

async function assemble(parts: Parts): Promise<Stage> {
  const { settings, progress, folder, client, close, onActor } = parts;
  progress('starting a local chain with a dollar and the official facilitator');
  const chain = await startChain({ buyers: accountCount, stateFile: settings.stateFile, onActor });
  const fromBlock = (await chain.chain.blockNumber()) + 1n;
  const { roles, paid } = assign(chain.buyers);
  progress('starting our seller and the official one');
  const config = sellerConfig(parts, chain);
  const [first, stock] = await Promise.all([
    startSeller(config, onActor),
    startStock({ ...config, payTo: paid.address, facilitatorUrl: chain.rigs.stock.url }, onActor),
  ]);
  let ours = first;
  return {
    settings,
    chain,
    roles,
    fromBlock,
    ours: () => ours,
    stopOurs: (how) => (how === 'kill' ? ours.actor.kill() : ours.actor.stop()),
    startOurs: async (timing) => {
      const again = { ...config, port: ours.port };
      ours = await startSeller(timing === undefined ? again : { ...again, timing }, onActor);
    },
    stock,
    stockPayTo: paid.address,
    client,
    buyer: (role) => createBuyer(roles[role], client),
    paymentsOf: async (from) =>
      (await chain.chain.transfers({ from, to: chain.sellerAddress, fromBlock })).length,
    storeFile: config.storeFile,
    folder,
    close,
  };
}

function sellerConfig(parts: Parts, chain: ChainActor): SellerConfig {
  const { folder, settings } = parts;
  const keyFile = join(folder, 'store.key');
  // Outside the database, readable for its owner alone: it opens what the store keeps sealed.
  writeFileSync(keyFile, randomFillSync(new Uint8Array(32)), { mode: 0o600, flag: 'wx' });
  return {
    network: chain.network,
    payTo: chain.sellerAddress,
    facilitatorUrl: chain.rigs.ours.url,
    asset: chain.dollar,
    workMs: settings.workMs,
    rpcUrl: chain.rpcUrl,
    storeFile: join(folder, 'claims.sqlite'),
    keyFile,
    port: 0,
  };
}

function assign(buyers: readonly Account[]): { readonly roles: Roles; readonly paid: Account } {
  const [ours, oursAgent, oursTwins, oursCrash, stock, stockAgent, paid] = buyers;
  const complete = ours && oursAgent && oursTwins && oursCrash && stock && stockAgent && paid;
  if (!complete) throw new Error(`The chain has ${buyers.length} buyers; ${accountCount} are needed.`);
  return { roles: { ours, oursAgent, oursTwins, oursCrash, stock, stockAgent }, paid };
}

function once(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= task();
    return running;
  };
}
