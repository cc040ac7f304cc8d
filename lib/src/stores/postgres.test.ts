import { sharedPostgres } from '../../../tools/servers/postgres.ts';
import { exampleNowMs } from '../claim/example.ts';
import { claimStoreConformance, type OpenStore } from './conformance.ts';
import { openPostgresStore } from './postgres.ts';

const database = sharedPostgres();
let schemas = 0;

const open: OpenStore = async (limits) => {
  const { url } = await database;
  schemas += 1;
  let nowMs = exampleNowMs;
  const options = { url, schema: `store_${schemas}`, clock: () => nowMs, ...limits };
  const store = await openPostgresStore(options);
  return {
    store,
    setClock: (at) => {
      nowMs = at;
    },
    another: () => openPostgresStore(options),
    close: store.close,
  };
};

claimStoreConformance({ name: 'postgres', durable: true, open, histories: 100 });
