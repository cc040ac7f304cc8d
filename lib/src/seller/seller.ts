/** Puts a seller together from its configuration; whatever is wrong with that is a TypeError here, not a 500 later. */
import type { ClaimStore } from '../claim/index.ts';
import { storeKeyLength } from '../crypto/seal.ts';
import { parseOrigin } from '../payment/index.ts';
import type { ChainReader, Facilitator } from '../settlement/index.ts';
import { type Acceptance, type Asset, createAssetTable, defineTerms } from '../terms/index.ts';
import { encodeHex } from '../wire/hex.ts';
import type { World } from '../world.ts';
import { charge } from './charge.ts';
import { watchClocks } from './clock.ts';
import type { SellerEvent } from './event.ts';
import { checkLease, defaultLease, type LeaseSettings } from './lease.ts';
import type { Delivery, SellerRequest, Work } from './message.ts';
import { createReadiness } from './ready.ts';
import {
  defineRoute,
  type ParsedRouteOptions,
  type Route,
  type RouteOptions,
  type RouteRequest,
} from './route.ts';
import { guardFacilitator, guardStore, type Shop } from './shop.ts';

export type SellerOptions = {
  readonly world: World;
  readonly store: ClaimStore;
  readonly facilitator: Facilitator;
  /** Readers by CAIP-2 network; without one a settlement in doubt stays in doubt. */
  readonly chains?: Readonly<Record<string, ChainReader>>;
  /** The public origin under which buyers reach this seller, as `https://api.example.com`. */
  readonly origin: string;
  readonly accepts: readonly Acceptance[];
  /** Assets beside the well-known ones. */
  readonly assets?: readonly Asset[];
  /** 32 octets, kept outside the database: seals kept answers and payloads. */
  readonly storeKey: Uint8Array;
  readonly lease?: Partial<LeaseSettings>;
  /** Names this process in leases; random by default. */
  readonly instance?: string;
  readonly observe?: (event: SellerEvent) => void;
};

export type Seller = {
  /** Resolves when the facilitator settles everything that is accepted; rejects with the reason when it does not. */
  readonly ready: () => Promise<void>;
  readonly route: {
    (options: RouteOptions<RouteRequest> & { readonly parse?: undefined }): Route<RouteRequest>;
    <Parsed>(options: ParsedRouteOptions<Parsed>): Route<Parsed>;
  };
  /** Answers one request to a priced route; never rejects. */
  readonly charge: <Parsed>(
    route: Route<Parsed>,
    request: SellerRequest,
    work: Work<Parsed>,
  ) => Promise<Delivery>;
  readonly close: () => Promise<void>;
};

const optionNames: ReadonlySet<string> = new Set([
  'world',
  'store',
  'facilitator',
  'chains',
  'origin',
  'accepts',
  'assets',
  'storeKey',
  'lease',
  'instance',
  'observe',
]);

/**
 * Makes a seller.
 *
 * @example
 * const seller = createSeller({ world, store, facilitator, origin: 'https://api.example.com', accepts, storeKey });
 * const weather = seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
 */
export function createSeller(options: SellerOptions): Seller {
  const shop = openShop(options);
  function route(options: RouteOptions<RouteRequest> & { readonly parse?: undefined }): Route<RouteRequest>;
  function route<Parsed>(options: ParsedRouteOptions<Parsed>): Route<Parsed>;
  function route<Parsed>(
    options: (RouteOptions<RouteRequest> & { readonly parse?: undefined }) | ParsedRouteOptions<Parsed>,
  ): Route<RouteRequest> | Route<Parsed> {
    if (options.parse === undefined)
      return defineRoute(shop, { ...options, parse: (request: RouteRequest) => request });
    return defineRoute(shop, options);
  }
  return Object.freeze({
    ready: async () => {
      const state = await shop.readiness.check();
      if (state.state !== 'ready') throw new Error(state.why);
      await watchClocks(shop);
    },
    route,
    charge: (route, request, work) => charge(shop, route, { request, work }),
    close: () => shop.store.close(),
  } satisfies Seller);
}

function openShop(options: SellerOptions): Shop {
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) throw new TypeError(`A seller has no option "${name}".`);
  }
  const { world, accepts, assets = [], storeKey, chains = {} } = options;
  if (!(storeKey instanceof Uint8Array) || storeKey.length !== storeKeyLength) {
    throw new TypeError(`storeKey must be ${storeKeyLength} octets.`);
  }
  defineTerms({ accepts, assets });
  const observe = quiet(options.observe ?? (() => {}));
  const facilitator = guardFacilitator(world, options.facilitator);
  const store = guardStore(world, options.store);
  // Random even under a given name: an owner of an earlier life must never be taken for this one.
  const boot = encodeHex(world.random(8)).slice(2);
  const instance = options.instance === undefined ? boot : `${options.instance}:${boot}`;
  let visits = 0;
  return {
    world,
    store,
    facilitator,
    chains: (network) => (Object.hasOwn(chains, network) ? chains[network] : undefined),
    origin: parseOrigin(options.origin),
    accepts,
    assetList: assets,
    assets: createAssetTable(assets),
    storeKey,
    lease: checkLease({ ...defaultLease, ...options.lease }),
    observe,
    readiness: createReadiness({
      world,
      facilitator,
      accepts,
      report: (state) =>
        observe({
          event: 'alarm',
          alarm: state.state === 'uncovered' ? 'facilitator_uncovered' : 'facilitator_unavailable',
          ...('why' in state ? { detail: state.why } : {}),
        }),
    }),
    inFlight: new Set(),
    lookups: new Map(),
    contracts: { running: 0 },
    tidy: housekeeper(store),
    nextOwner: () => {
      visits += 1;
      return `${instance}:${visits}`;
    },
  };
}

/** An observer that throws must not change what happens to money. */
function quiet(observe: (event: SellerEvent) => void): (event: SellerEvent) => void {
  return (event) => {
    try {
      observe(event);
    } catch {
      // Its own affair.
    }
  };
}

/** Often enough that a store never grows with its age, seldom enough that no buyer pays for it. */
const visitsPerTidy = 64;
/** More than can become forgettable between two rounds. */
const forgottenPerTidy = 256;

/** Without traffic a store does not grow, so its housekeeping needs no timer of its own. */
function housekeeper(store: ClaimStore): () => void {
  let visits = 0;
  return () => {
    visits += 1;
    if (visits % visitsPerTidy !== 0) return;
    // A store that fails here fails the next claim too, and says so there.
    store.prune(forgottenPerTidy).catch(() => {});
  };
}
