/**
 * The process with the chain: devnet, official facilitator, and in front of that one breakable facilitator for each
 * seller. Both ends are here: what the process serves, and what the demonstration asks it.
 */
import {
  connectChain,
  type DevnetChain,
  type Dollar,
  FAULTS,
  type FaultMode,
  type FaultyFacilitator,
  startDevnet,
  startFaultyFacilitator,
} from 'counterfoil-devnet';
import { isStarted } from '../../entry.ts';
import { readCount, readHex, readList, readObject, readText } from '../process/read.ts';
import { serveParent } from '../process/serve.ts';
import { type Actor, startActor } from '../process/spawn.ts';

/** Whose facilitator is meant. */
export type RigName = 'ours' | 'stock';

/** How a facilitator behaves: well, slowly, or so that the payment lands and the answer is lost. */
export type RigMode = 'pass' | 'slow' | 'land_then_502' | 'land_then_hang';

/** What one facilitator was asked since the last `clear`; `landed` payments moved money. */
export type RigCounts = { readonly verify: number; readonly settle: number; readonly landed: number };

export type Rig = {
  readonly url: string;
  readonly setMode: (mode: RigMode) => Promise<void>;
  readonly counts: () => Promise<RigCounts>;
  /** Resolves when this many payments have landed since the last `clear`. */
  readonly landed: (count: number) => Promise<void>;
  readonly clear: () => Promise<void>;
};

/** An account that can pay; `privateKey` is of the public development mnemonic. */
export type Account = { readonly address: `0x${string}`; readonly privateKey: `0x${string}` };

/** The running chain as the demonstration sees it; `chain` reads its logs directly. */
export type ChainActor = {
  readonly rpcUrl: string;
  readonly network: `${string}:${string}`;
  readonly dollar: Dollar;
  /** Paid by our buyers. */
  readonly sellerAddress: `0x${string}`;
  readonly buyers: readonly Account[];
  readonly rigs: Readonly<Record<RigName, Rig>>;
  readonly chain: DevnetChain;
  readonly actor: Actor;
};

/** Long enough to hang up before the answer comes, short enough not to be waited for. */
const slowMs = 400;

const modes: Readonly<Record<RigMode, FaultMode>> = {
  pass: FAULTS.pass,
  slow: { ...FAULTS.pass, afterMs: slowMs },
  land_then_502: FAULTS.land_then_502,
  land_then_hang: FAULTS.land_then_hang,
};

/** Starts the process and waits until a payment can be made. */
export async function startChain(options: {
  readonly buyers: number;
  readonly stateFile?: string | undefined;
  readonly onActor?: (actor: Actor) => void;
}): Promise<ChainActor> {
  const actor = startActor('chain', import.meta.filename);
  options.onActor?.(actor);
  const { buyers, stateFile } = options;
  const ready = readObject(await actor.ask('start', { buyers, stateFile }), 'chain');
  const dollar = readDollar(ready.dollar);
  const rpcUrl = readText(ready, 'rpcUrl');
  const urls = readObject(ready.rigs, 'rigs');
  return {
    rpcUrl,
    network: readNetwork(ready),
    dollar,
    sellerAddress: readHex(ready, 'seller'),
    buyers: readList(ready, 'buyers', readAccount),
    rigs: { ours: rigOf(actor, 'ours', urls), stock: rigOf(actor, 'stock', urls) },
    chain: connectChain({ rpcUrl, dollar }),
    actor,
  };
}

function rigOf(actor: Actor, rig: RigName, urls: Readonly<Record<string, unknown>>): Rig {
  return {
    url: readText(urls, rig),
    setMode: async (mode) => {
      await actor.ask('mode', { rig, mode });
    },
    counts: async () => {
      const counts = readObject(await actor.ask('counts', { rig }), 'counts');
      return {
        verify: readCount(counts, 'verify'),
        settle: readCount(counts, 'settle'),
        landed: readCount(counts, 'landed'),
      };
    },
    landed: async (count) => {
      await actor.ask('landed', { rig, count });
    },
    clear: async () => {
      await actor.ask('clear', { rig });
    },
  };
}

function readDollar(value: unknown): Dollar {
  const dollar = readObject(value, 'dollar');
  return {
    address: readHex(dollar, 'address'),
    symbol: readText(dollar, 'symbol'),
    decimals: readCount(dollar, 'decimals'),
    name: readText(dollar, 'name'),
    version: readText(dollar, 'version'),
  };
}

function readAccount(value: unknown): Account {
  const account = readObject(value, 'account');
  return { address: readHex(account, 'address'), privateKey: readHex(account, 'privateKey') };
}

function readNetwork(ready: Readonly<Record<string, unknown>>): `${string}:${string}` {
  const network = readText(ready, 'network');
  const [namespace = '', reference = ''] = network.split(':');
  return `${namespace}:${reference}`;
}

/** The process: one devnet and one rig a seller. */
function serve(): void {
  let close = async (): Promise<void> => {};
  const rigs = new Map<string, FaultyFacilitator>();
  const rigNamed = (input: unknown): FaultyFacilitator => {
    const name = readText(readObject(input, 'input'), 'rig');
    const rig = rigs.get(name);
    if (rig === undefined) throw new TypeError(`there is no rig ${name}`);
    return rig;
  };
  const start = async (input: unknown): Promise<unknown> => {
    const options = readObject(input, 'input');
    const stateFile = typeof options.stateFile === 'string' ? options.stateFile : undefined;
    const devnet = await startDevnet({ accounts: readCount(options, 'buyers'), stateFile });
    close = async () => {
      await Promise.all([...rigs.values()].map((rig) => rig.close()));
      await devnet.stop();
    };
    for (const name of ['ours', 'stock'])
      rigs.set(name, await startFaultyFacilitator({ upstream: devnet.facilitatorUrl }));
    const { rpcUrl, network, dollar, accounts } = devnet;
    const urls = Object.fromEntries([...rigs].map(([name, rig]) => [name, rig.url]));
    return { rpcUrl, network, dollar, seller: accounts.seller.address, buyers: accounts.buyers, rigs: urls };
  };
  serveParent(
    {
      start,
      mode: (input) => rigNamed(input).setMode(modeNamed(readText(readObject(input, 'input'), 'mode'))),
      counts: (input) => rigNamed(input).counts(),
      landed: (input) => rigNamed(input).landed(readCount(readObject(input, 'input'), 'count')),
      clear: (input) => rigNamed(input).clear(),
    },
    () => close(),
  );
}

function modeNamed(name: string): FaultMode {
  const found = Object.entries(modes).find(([known]) => known === name)?.[1];
  if (found === undefined) throw new TypeError(`there is no mode ${name}`);
  return found;
}

if (isStarted(import.meta.filename)) serve();
