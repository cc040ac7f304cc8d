/** What all fleets stand on: one chain with its dollar and its facilitator, buyers with money, and database servers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LeaseSettings } from 'counterfoil/seller';
import { createSystem, type System } from 'counterfoil/system';
import { type Devnet, type FaultyFacilitator, startDevnet, startFaultyFacilitator } from 'counterfoil-devnet';
import type { StorePlace } from '../seller/store.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type House, openHouse } from './house.ts';

/** As many as a devnet has. Each lane takes some for itself, so that what moved for a round can be counted. */
const buyers = 100;

export type Ground = {
  readonly devnet: Devnet;
  readonly house: House;
  readonly world: System;
  /** Indexes of buyers that nobody else has; a RangeError when there are none left. */
  readonly hireBuyers: (count: number) => readonly number[];
  readonly openYard: (options: YardOptions) => Promise<Yard>;
  readonly close: () => Promise<void>;
};

/** A fleet with a facilitator of its own, which breaks as told. */
export type Yard = {
  readonly ground: Ground;
  readonly fleet: Fleet;
  readonly rig: FaultyFacilitator;
  readonly attempts: number;
  readonly close: () => Promise<void>;
};

export type YardOptions = {
  readonly place: StorePlace;
  readonly size: number;
  readonly timing: Timing;
  readonly attempts: number;
};

export type Timing = { readonly lease: LeaseSettings; readonly settleMs: number };

/** Short, so that what a killed process held is free soon; long against the pauses of a busy machine. */
export const shortTiming: Timing = {
  lease: { leaseMs: 1_400, heartbeatMs: 200, marginMs: 400, graceMs: 150 },
  settleMs: 1_500,
};

/** Where nobody is killed, nobody should lose a lease either. */
export const longTiming: Timing = {
  lease: { leaseMs: 20_000, heartbeatMs: 3_000, marginMs: 3_000, graceMs: 1_000 },
  settleMs: 3_000,
};

/** Lays the ground; close it when all rounds are over. */
export async function layGround(): Promise<Ground> {
  const devnet = await startDevnet({ accounts: buyers });
  const cache = await mkdtemp(join(tmpdir(), 'counterfoil-compiled-'));
  const world = await createSystem();
  const house = openHouse();
  let hired = 0;
  let compiled: Promise<void> | undefined;
  const ground: Ground = {
    devnet,
    house,
    world,
    hireBuyers: (count) => {
      if (hired + count > buyers) throw new RangeError(`There are ${buyers} buyers, and all are hired.`);
      hired += count;
      return Array.from({ length: count }, (_, at) => hired - count + at);
    },
    openYard: async (options) => {
      compiled ??= compile(ground, cache);
      await compiled;
      return openYard(ground, cache, options);
    },
    close: async () => {
      await world.close();
      await house.close();
      await devnet.stop();
      await rm(cache, { recursive: true, force: true });
    },
  };
  return ground;
}

/** Dozens of sellers start here: the first one leaves its compiled modules to the others. */
async function compile(ground: Ground, cache: string): Promise<void> {
  const place = { kind: 'memory' } as const;
  const yard = await openYard(ground, cache, { place, size: 1, timing: longTiming, attempts: 1 });
  await yard.close();
}

async function openYard(ground: Ground, cache: string, options: YardOptions): Promise<Yard> {
  const { devnet } = ground;
  const { place, size, timing, attempts } = options;
  const rig = await startFaultyFacilitator({ upstream: devnet.facilitatorUrl });
  try {
    const { dollar, network, accounts, rpcUrl } = devnet;
    const fleet = await startFleet({
      size,
      cache,
      store: place,
      network,
      dollar,
      payTo: accounts.seller.address,
      rpcUrl,
      facilitatorUrl: rig.url,
      attempts,
      ...timing,
    });
    const close = async (): Promise<void> => {
      await fleet.close();
      await rig.close();
    };
    return { ground, fleet, rig, attempts, close };
  } catch (fault) {
    await rig.close();
    throw fault;
  }
}
