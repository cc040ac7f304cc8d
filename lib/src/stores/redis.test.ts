import { newPlace } from '../../test/redis.ts';
import { exampleNowMs } from '../claim/example.ts';
import { claimStoreConformance, type OpenStore } from './conformance.ts';
import { openRedisStore } from './redis.ts';

const open: OpenStore = async (limits) => {
  let nowMs = exampleNowMs;
  const options = { ...(await newPlace()), clock: () => nowMs, ...limits };
  const store = await openRedisStore(options);
  return {
    store,
    setClock: (at) => {
      nowMs = at;
    },
    another: () => openRedisStore(options),
    close: store.close,
  };
};

claimStoreConformance({ name: 'redis', durable: true, open, histories: 100 });
