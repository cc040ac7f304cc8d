/**
 * Starts a whole local payment world: chain, dollar, funded accounts, facilitator, state file.
 * The story from top to bottom is `startDevnet`; each line of it is one module.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { x402Facilitator } from '@x402/core/facilitator';
import type { Network } from '@x402/core/types';
import { getAddress, type LocalAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import {
  type Accounts,
  DEFAULT_BUYERS,
  deriveAccounts,
  isBuyerCount,
  MAX_BUYERS,
  ROLE_COUNT,
} from './accounts.ts';
import { type Anvil, type AnvilOptions, CHAIN_ID, startAnvil } from './anvil.ts';
import { connectChain, type DevnetChain, signerOf } from './chain.ts';
import { type Clients, createClients } from './client.ts';
import { type Dollar, deployDollar, readDollar } from './dollar.ts';
import { createFacilitator } from './facilitator.ts';
import { DevnetError } from './failure.ts';
import { NETWORK } from './request.ts';
import { dumpBytes, type Saver, startSaver } from './saver.ts';
import { type Service, serveFacilitator } from './service.ts';
import { readState, type SavedState } from './state.ts';
import { createWriter } from './writer.ts';

/** How to start a devnet; everything has a default. */
export type DevnetOptions = {
  /** Milliseconds between blocks, in whole seconds; without it each transaction gets its block at once. */
  readonly blockTimeMs?: number | undefined;
  /** Where the chain is kept between runs; without it the chain ends with the devnet. */
  readonly stateFile?: string | undefined;
  /** Port of the JSON-RPC; 0 or nothing takes a free one. */
  readonly port?: number | undefined;
  /** Port of the facilitator; 0 or nothing takes a free one. */
  readonly facilitatorPort?: number | undefined;
  /** How many buyers are funded (1 to 100). */
  readonly accounts?: number | undefined;
  /** Told, in one sentence, when a save in the background fails. */
  readonly warn?: ((text: string) => void) | undefined;
};

/** How long each part of the start took, in milliseconds. */
export type Timings = {
  readonly anvilMs: number;
  readonly dollarMs: number;
  readonly facilitatorMs: number;
  readonly totalMs: number;
};

/** A running devnet. `facilitator` is the object behind `facilitatorUrl`, with the same single writer. */
export type Devnet = {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly network: Network;
  readonly facilitatorUrl: string;
  readonly facilitator: x402Facilitator;
  readonly dollar: Dollar;
  readonly accounts: Accounts;
  readonly chain: DevnetChain;
  readonly timings: Timings;
  readonly anvilPid: number;
  /** Whether the chain came from the state file instead of being deployed. */
  readonly restored: boolean;
  /** Resolves with one line when anvil is gone, whoever ended it. */
  readonly exited: Promise<string>;
  /** The viem account of the i-th buyer, to sign with. */
  signer(index: number): LocalAccount;
  /** Writes the state file now; nothing to do without one. */
  save(): Promise<void>;
  /** Saves, closes the facilitator, ends anvil by its pid and waits for it; safe to call twice. */
  stop(): Promise<void>;
};

const OPTION_NAMES: ReadonlySet<string> = new Set([
  'blockTimeMs',
  'stateFile',
  'port',
  'facilitatorPort',
  'accounts',
  'warn',
]);

/** Anvil takes whole seconds; an hour between blocks is a typing mistake. */
const SECOND_MS = 1_000;
const MAX_BLOCK_TIME_MS = 3_600_000;

const MAX_PORT = 65_535;

/** Starts a devnet and resolves when a payment can be made; rejects with a {@link DevnetError}. */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const began = performance.now();
  checkOptions(options);
  const saved = options.stateFile === undefined ? undefined : await readState(options.stateFile, CHAIN_ID);
  const buyers = countBuyers(options, saved);
  const booting = bootAnvil({ port: options.port ?? 0, accounts: ROLE_COUNT + buyers }, saved);
  // Anvil boots while the keys are derived; the count was checked, so this cannot throw and leave it behind.
  const accounts = deriveAccounts(buyers);
  const anvil = await booting;
  try {
    return await assemble(anvil, { options, saved, accounts, began, anvilAt: performance.now() });
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

type Parts = {
  readonly options: DevnetOptions;
  readonly saved: SavedState | undefined;
  readonly accounts: Accounts;
  readonly began: number;
  readonly anvilAt: number;
};

/** Everything that is built on a running anvil. */
async function assemble(anvil: Anvil, parts: Parts): Promise<Devnet> {
  const { options, saved, accounts, began, anvilAt } = parts;
  const clients = createClients(anvil.url);
  const dollar = await prepareChain(clients, accounts, { saved, blockTimeMs: options.blockTimeMs });
  const dollarAt = performance.now();
  const writer = createWriter(privateKeyToAccount(accounts.relayer.privateKey), clients);
  const facilitator = createFacilitator(clients, writer);
  const service = await serveFacilitator(facilitator, options.facilitatorPort ?? 0);
  const saver = await createSaver(clients, { dollar, ...parts }).catch(async (error: unknown) => {
    await service.close();
    throw error;
  });
  // A chain that ended by itself has nothing to save any more.
  void anvil.exited.then(() => saver?.stop());
  const readyAt = performance.now();
  return {
    rpcUrl: anvil.url,
    chainId: CHAIN_ID,
    network: NETWORK,
    facilitatorUrl: service.url,
    facilitator,
    dollar,
    accounts,
    chain: connectChain({ rpcUrl: anvil.url, dollar }),
    timings: {
      anvilMs: anvilAt - began,
      dollarMs: dollarAt - anvilAt,
      facilitatorMs: readyAt - dollarAt,
      totalMs: readyAt - began,
    },
    anvilPid: anvil.pid,
    restored: saved !== undefined,
    exited: anvil.exited,
    signer: (index) => buyerSigner(accounts, index),
    save: async () => saver?.save(),
    stop: once(() => stopAll({ anvil, service, saver })),
  };
}

/** A saved chain has the buyers that were funded when it began. */
function countBuyers(options: DevnetOptions, saved: SavedState | undefined): number {
  const asked = options.accounts;
  if (saved === undefined) return asked ?? DEFAULT_BUYERS;
  const { buyers } = saved.head;
  if (asked === undefined || asked === buyers) return buyers;
  throw new DevnetError(
    'state_other_accounts',
    `The state file ${options.stateFile} is of a chain with ${buyers} buyers, not ${asked}. Nothing was changed.`,
  );
}

function checkOptions(options: DevnetOptions): void {
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.has(name)) throw new TypeError(`startDevnet does not know the option ${name}`);
  }
  if (options.accounts !== undefined && !isBuyerCount(options.accounts)) {
    throw new TypeError(`accounts must be a whole number from 1 to ${MAX_BUYERS}, got ${options.accounts}`);
  }
  checkPort('port', options.port);
  checkPort('facilitatorPort', options.facilitatorPort);
  const { blockTimeMs } = options;
  if (blockTimeMs === undefined) return;
  if (blockTimeMs <= 0 || blockTimeMs > MAX_BLOCK_TIME_MS || blockTimeMs % SECOND_MS !== 0) {
    throw new TypeError(`blockTimeMs must be whole seconds up to an hour, such as 2000, got ${blockTimeMs}`);
  }
}

function checkPort(name: string, port: number | undefined): void {
  if (port === undefined || (Number.isInteger(port) && port >= 0 && port <= MAX_PORT)) return;
  throw new TypeError(`${name} must be a whole number from 0 to ${MAX_PORT}, got ${port}`);
}

/** Anvil reads its state from a plain JSON file, which exists only while it boots. */
async function bootAnvil(base: AnvilOptions, saved: SavedState | undefined): Promise<Anvil> {
  if (saved === undefined) return startAnvil(base);
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-devnet-'));
  try {
    const loadState = join(folder, 'state.json');
    await writeFile(loadState, saved.json, { mode: 0o600 });
    return await startAnvil({ ...base, loadState });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function prepareChain(
  clients: Clients,
  accounts: Accounts,
  options: { readonly saved: SavedState | undefined; readonly blockTimeMs: number | undefined },
): Promise<Dollar> {
  await clients.control.setLoggingEnabled(false);
  const { saved, blockTimeMs } = options;
  const dollar =
    saved === undefined
      ? await deployDollar(clients, accounts)
      : await readDollar(clients.reader, getAddress(saved.head.dollar));
  if (blockTimeMs === undefined) await clients.control.setAutomine(true);
  else await clients.control.setIntervalMining({ interval: blockTimeMs / SECOND_MS });
  return dollar;
}

/** The first save is part of the start: a file that cannot be written is known at once. */
async function createSaver(
  clients: Clients,
  parts: Parts & { readonly dollar: Dollar },
): Promise<Saver | undefined> {
  const { options, saved, accounts, dollar } = parts;
  if (options.stateFile === undefined) return undefined;
  const saver = startSaver({
    file: options.stateFile,
    about: { chainId: CHAIN_ID, dollar: dollar.address, buyers: accounts.buyers.length },
    known: saved?.head.sha256,
    mark: async () => (await clients.reader.getBlock()).hash,
    dump: async () => dumpBytes(await clients.control.dumpState()),
    warn: options.warn ?? ((text) => process.emitWarning(text)),
  });
  try {
    await saver.save();
    return saver;
  } catch (error) {
    await saver.stop();
    throw error;
  }
}

function buyerSigner(accounts: Accounts, index: number): LocalAccount {
  const buyer = accounts.buyers[index];
  if (buyer === undefined)
    throw new TypeError(`there is no buyer ${index}; there are ${accounts.buyers.length}`);
  return signerOf(buyer);
}

/** First no more settles, then the save that must contain the last of them, then the processes. */
async function stopAll(parts: {
  readonly anvil: Anvil;
  readonly service: Service;
  readonly saver: Saver | undefined;
}): Promise<void> {
  const { anvil, service, saver } = parts;
  await service.close();
  await saver?.stop();
  try {
    // An anvil that ended by itself has nothing left to save; what was saved before stays.
    if (anvil.running()) await saver?.save();
  } finally {
    await anvil.stop();
  }
}

function once(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= task();
    return running;
  };
}
