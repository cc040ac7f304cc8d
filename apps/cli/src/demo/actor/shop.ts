/** What the demonstration asks of a seller process, whichever of the two it is. */
import { readCount, readObject } from '../process/read.ts';
import { type Actor, startActor } from '../process/spawn.ts';
import { type Counts, readCounts } from './tally.ts';

/** Everything that both sellers are told. */
export type ShopConfig = {
  readonly network: `${string}:${string}`;
  readonly payTo: string;
  readonly facilitatorUrl: string;
  readonly asset: {
    readonly address: string;
    readonly symbol: string;
    readonly decimals: number;
    readonly name: string;
    readonly version: string;
  };
  readonly workMs: number;
};

export type ShopActor = {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly port: number;
  readonly counts: () => Promise<Counts>;
  readonly actor: Actor;
};

/** Starts a seller from its file and waits until it can sell. */
export async function startShop(
  about: { readonly name: string; readonly file: string; readonly onActor?: (actor: Actor) => void },
  config: ShopConfig,
): Promise<ShopActor> {
  const actor = startActor(about.name, about.file);
  about.onActor?.(actor);
  const ready = readObject(await actor.ask('start', config), 'seller');
  const port = readCount(ready, 'port');
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    counts: async () => readCounts(await actor.ask('counts')),
    actor,
  };
}
