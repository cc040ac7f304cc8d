/** Two to four sellers on one store: started together, killed one by one, and started again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Point } from '../round/point.ts';
import { journalIn, type SellerConfig, type Told } from '../seller/goods.ts';
import { createReader, type Entry } from '../seller/journal.ts';
import { type Seat, takeSeat } from './seat.ts';

export type Fleet = {
  /** Orders and the journal. */
  readonly folder: string;
  readonly seats: readonly Seat[];
  /** What was written into the journal since the last call. */
  readonly read: () => Promise<readonly Entry[]>;
  /** Resolves with the seat that next says it has reached a point; gives up when the signal fires. */
  readonly reached: (
    signal: AbortSignal,
  ) => Promise<{ readonly seat: Seat; readonly point: Point } | undefined>;
  /** Forgets what was said and not waited for. */
  readonly forget: () => void;
  readonly kills: () => number;
  /** Ends every process; nothing of the fleet is left. */
  readonly close: () => Promise<void>;
};

export type FleetOptions = Omit<SellerConfig, 'name' | 'folder'> & {
  readonly size: number;
  /** Where the compiled modules are kept between two starts. */
  readonly cache: string;
};

type Reached = { readonly seat: Seat; readonly point: Point };

/** Starts a fleet and resolves when all its sellers are open. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { size, cache, ...config } = options;
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-fleet-'));
  const waiting: ((reached: Reached) => void)[] = [];
  const unheard: Reached[] = [];
  const seats: Seat[] = [];
  for (let at = 0; at < size; at += 1) {
    const onTold = (told: Told): void => {
      const seat = seats[at];
      if (told.kind !== 'reached' || seat === undefined) return;
      const reached = { seat, point: told.point };
      const hear = waiting.shift();
      if (hear === undefined) unheard.push(reached);
      else hear(reached);
    };
    seats.push(takeSeat({ config: { ...config, folder, name: `p${at + 1}` }, cache, onTold }));
  }
  const fleet: Fleet = {
    folder,
    seats,
    read: createReader(journalIn(folder)),
    reached: async (signal) => {
      const known = unheard.shift();
      if (known !== undefined || signal.aborted) return known;
      const { promise, resolve } = Promise.withResolvers<Reached | undefined>();
      waiting.push(resolve);
      signal.addEventListener('abort', () => {
        const at = waiting.indexOf(resolve);
        if (at >= 0) waiting.splice(at, 1);
        resolve(undefined);
      });
      return promise;
    },
    forget: () => {
      unheard.length = 0;
    },
    kills: () => seats.reduce((sum, seat) => sum + seat.kills(), 0),
    close: async () => {
      await Promise.all(seats.map((seat) => seat.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await Promise.all(seats.map((seat) => seat.url()));
    return fleet;
  } catch (fault) {
    await fleet.close();
    throw fault;
  }
}
