/** The database servers behind the stores, started when the first fleet needs them; each fleet gets a store of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, sharedPostgres, startPostgres } from '../../tools/servers/postgres.ts';
import { type Redis, sharedRedis, startRedis } from '../../tools/servers/redis.ts';
import type { StoreKind, StorePlace } from '../seller/store.ts';

/** Where stores are made, on servers that nobody stops. */
export type House = {
  readonly place: (kind: StoreKind) => Promise<StorePlace>;
  readonly close: () => Promise<void>;
};

/** A store on a server of its own, which may be killed and started again. */
export type FrailPlace = {
  readonly place: StorePlace;
  readonly server: Pick<Redis | Postgres, 'kill' | 'restart' | 'stop'>;
};

const schema = 'counterfoil';

/** Opens a house; its servers end with this process, as they are shared with whoever else needs one. */
export function openHouse(): House {
  const folders: string[] = [];
  return {
    place: async (kind) => {
      switch (kind) {
        case 'memory':
          return { kind };
        case 'sqlite': {
          const folder = await mkdtemp(join(tmpdir(), 'counterfoil-claims-'));
          folders.push(folder);
          return { kind, path: join(folder, 'claims.sqlite') };
        }
        case 'redis':
          return placeIn(await sharedRedis());
        case 'postgres':
          return { kind, ...(await sharedPostgres()), schema };
        default:
          return kind satisfies never;
      }
    },
    close: async () => {
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
}

function placeIn({ url, prefix }: { readonly url: string; readonly prefix: string }): StorePlace {
  // The store writes its own mark between the prefix and a key.
  return { kind: 'redis', url, prefix: prefix.replace(/:$/, '') };
}

/** The stores whose server can die while the sellers live. */
export const serverKinds = ['redis', 'postgres'] as const;
export type ServerKind = (typeof serverKinds)[number];

/** Starts a server for one fleet; both keep what they acknowledged. */
export async function openFrail(kind: ServerKind): Promise<FrailPlace> {
  switch (kind) {
    case 'redis': {
      const server = await startRedis({ appendfsync: 'always' });
      return { server, place: { kind, url: server.url, prefix: 'torture' } };
    }
    case 'postgres': {
      const server = await startPostgres();
      return { server, place: { kind, url: server.url, schema } };
    }
    default:
      return kind satisfies never;
  }
}
