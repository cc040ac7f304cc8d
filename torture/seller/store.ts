/** The store that the sellers of a fleet share, opened where it is. Only its own driver is loaded. */
import type { ClaimStore } from 'counterfoil/claim';
import type { World } from 'counterfoil/world';

export const storeKinds = ['memory', 'sqlite', 'redis', 'postgres'] as const;
export type StoreKind = (typeof storeKinds)[number];

/** A store of its own for one fleet. */
export type StorePlace =
  /** Of one process, and gone with it. */
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string };

/** Opens it. */
export async function openStore(place: StorePlace, world: World): Promise<ClaimStore> {
  switch (place.kind) {
    case 'memory': {
      const { createMemoryStore } = await import('counterfoil/stores/memory');
      return createMemoryStore({ world });
    }
    case 'sqlite': {
      const { openSqliteStore } = await import('counterfoil/stores/sqlite');
      return openSqliteStore({ path: place.path });
    }
    case 'redis': {
      const { openRedisStore } = await import('counterfoil/stores/redis');
      return openRedisStore({ url: place.url, prefix: place.prefix });
    }
    case 'postgres': {
      const { openPostgresStore } = await import('counterfoil/stores/postgres');
      return openPostgresStore({ url: place.url, schema: place.schema });
    }
    default:
      return place satisfies never;
  }
}
