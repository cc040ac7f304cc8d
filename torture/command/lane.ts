/** Lanes: rows of rounds on one fleet, one round after the other. Lanes run beside each other. */
import { type Ground, longTiming, shortTiming, type Yard } from '../fleet/ground.ts';
import { openFrail, type ServerKind, serverKinds } from '../fleet/house.ts';
import { auditBooks } from '../round/books.ts';
import { playCopies } from '../round/copies.ts';
import { playKills } from '../round/kill.ts';
import { momentsOf, playOutage } from '../round/outage.ts';
import { lostAnswers, planFault, planRound } from '../round/plan.ts';
import type { Result } from '../round/play.ts';
import type { Flow } from '../round/point.ts';
import { openStore, type StoreKind, type StorePlace } from '../seller/store.ts';
import type { Options, TrialName } from './option.ts';

export type Lane = {
  readonly trial: TrialName;
  readonly store: StoreKind;
  readonly flow: string;
  readonly rounds: number;
  /** What one round counts as in the column of outages. */
  readonly outages: number;
  readonly open: (ground: Ground) => Promise<OpenLane>;
};

export type OpenLane = {
  readonly play: (seed: number) => Promise<Result>;
  /** What the store's own books say against it, after so many rounds. */
  readonly audit: (rounds: number) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

/** More than a payment can need: two kills in its work, and one run that is cut off by a slow machine. */
export const attempts = 4;
/** Rounds of kills have faults as well. */
const faultShare = 5;
/** Each takes a few seconds, for a database must recover. */
const outageShare = 10;

/** A share of the rounds, and at least one for each of the cases; a single round is somebody's own choice. */
function shareOf(rounds: number, share: number, cases: number): number {
  return rounds === 1 ? 1 : Math.max(cases, Math.ceil(rounds / share));
}
/** Four sellers, as the promise has it. */
const copySellers = 4;
const outageSellers = 2;

/** The lanes of a trial, in the order of the report. */
export function lanesOf(trial: TrialName, options: Options): readonly Lane[] {
  switch (trial) {
    case 'kills':
      return paired(options, (store, flow) => killLane(options, store, flow));
    case 'faults':
      return paired(options, (store, flow) => faultLane(options, store, flow));
    case 'copies':
      return options.stores.map((store) => copiesLane(options, store));
    case 'outages': {
      const kinds = serverKinds.filter((kind) => options.stores.includes(kind));
      return kinds.flatMap((kind) => options.flows.map((flow) => outageLane(options, kind, flow)));
    }
    default:
      return trial satisfies never;
  }
}

function paired(options: Options, make: (store: StoreKind, flow: Flow) => Lane): readonly Lane[] {
  return options.stores.flatMap((store) => options.flows.map((flow) => make(store, flow)));
}

function killLane({ rounds, processes }: Options, store: StoreKind, flow: Flow): Lane {
  return {
    trial: 'kills',
    store,
    flow,
    rounds,
    outages: 0,
    open: async (ground) => {
      const place = await ground.house.place(store);
      const yard = await ground.openYard({ place, size: processes.most, timing: shortTiming, attempts });
      const buyer = hireOne(ground);
      return {
        play: (seed) => playKills(yard, planRound({ seed, store, flow, processes }), buyer),
        audit: (count) => audit(ground, place, count),
        close: yard.close,
      };
    },
  };
}

function faultLane(options: Options, store: StoreKind, flow: Flow): Lane {
  const processes = store === 'memory' ? { least: 1, most: 1 } : options.processes;
  return {
    trial: 'faults',
    store,
    flow,
    rounds: shareOf(options.rounds, faultShare, lostAnswers.length),
    outages: 0,
    open: async (ground) => {
      const place = await ground.house.place(store);
      const yard = await ground.openYard({ place, size: processes.most, timing: longTiming, attempts });
      const buyer = hireOne(ground);
      return {
        play: (seed) => playKills(yard, planFault({ seed, store, flow, processes }), buyer),
        audit: (count) => audit(ground, place, count),
        close: yard.close,
      };
    },
  };
}

/** Flows take turns. */
function copiesLane({ rounds, copies, flows }: Options, store: StoreKind): Lane {
  return {
    trial: 'copies',
    store,
    flow: flows.length === 1 ? (flows[0] ?? '') : 'both',
    rounds,
    outages: 0,
    open: async (ground) => {
      const place = await ground.house.place(store);
      const size = store === 'memory' ? 1 : copySellers;
      const yard = await ground.openYard({ place, size, timing: longTiming, attempts });
      const buyer = hireOne(ground);
      return {
        play: (seed) => {
          const flow = flows[seed % flows.length] ?? 'authorization';
          return playCopies(yard, { seed, flow, buyer, copies });
        },
        audit: (count) => audit(ground, place, count),
        close: yard.close,
      };
    },
  };
}

function outageLane({ rounds }: Options, kind: ServerKind, flow: Flow): Lane {
  return {
    trial: 'outages',
    store: kind,
    flow,
    rounds: shareOf(rounds, outageShare, momentsOf(flow).length),
    outages: 1,
    open: async (ground) => {
      const { place, server } = await openFrail(kind);
      let yard: Yard;
      try {
        yard = await ground.openYard({ place, size: outageSellers, timing: shortTiming, attempts });
      } catch (fault) {
        await server.stop();
        throw fault;
      }
      const buyer = hireOne(ground);
      return {
        play: (seed) => playOutage(yard, server, { seed, flow, buyer }),
        audit: (count) => audit(ground, place, count),
        close: async () => {
          await yard.close();
          await server.stop();
        },
      };
    },
  };
}

async function audit(ground: Ground, place: StorePlace, count: number): Promise<readonly string[]> {
  // Of another process, which nobody else can look into.
  if (place.kind === 'memory') return [];
  const store = await openStore(place, ground.world);
  try {
    return await auditBooks(store, count);
  } finally {
    await store.close();
  }
}

function hireOne(ground: Ground): number {
  return ground.hireBuyers(1)[0] ?? 0;
}
