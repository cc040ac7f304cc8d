/** Puts a seller together from its configuration; whatever is wrong with that is a TypeError here, not a 500 later. */
import type { ClaimStore } from '../claim/index.ts';
import { deriveMacKey } from '../crypto/mac.ts';
import type { Binding } from '../payment/index.ts';
import type { ChainReader, Facilitator } from '../settlement/index.ts';
import { type Acceptance, type Asset, createAssetTable, defineTerms } from '../terms/index.ts';
import { encodeHex } from '../wire/hex.ts';
import type { World } from '../world.ts';
import { problemAnswer } from './answer.ts';
import { type Assurance, finalityOf } from './assurance.ts';
import { checkReconcile, createBackground, type ReconcileSettings } from './background.ts';
import { type CatalogueOptions, createCatalogue, type Listed } from './catalogue.ts';
import { charge } from './charge.ts';
import { watchClocks } from './clock.ts';
import { type CorsOptions, createCors } from './cors.ts';
import type { SellerEvent } from './event.ts';
import { checkLease, defaultLease, type LeaseSettings } from './lease.ts';
import type { BreakerOptions } from './limits/breaker.ts';
import { createLimits, type LimitOptions } from './limits/limits.ts';
import { exposureLimits, type UnpaidRuns } from './limits/unpaid.ts';
import { watchFacilitator } from './limits/watch.ts';
import type { Delivery, HeaderList, SellerRequest, Work } from './message.ts';
import { checkParts } from './parts.ts';
import { createPlaces } from './place.ts';
import { type Probe, selfTest } from './probe.ts';
import { createReadiness } from './ready.ts';
import { beforeLookup, plain } from './reply.ts';
import { createRoster, type SiblingPolicy } from './roster.ts';
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
  /** The public origin under which buyers reach this seller, as `https://api.example.com`, or several of them. */
  readonly origin: string | readonly string[];
  /**
   * Addresses or ranges of proxies whose X-Forwarded-Host and X-Forwarded-Proto are believed; `any` where every
   * request comes through one.
   */
  readonly trustProxy?: readonly string[] | 'any';
  /** How payments must be tied to their requests, unless a route says otherwise; default `echoed`. */
  readonly binding?: Binding;
  /**
   * On whose word a settlement is believed, unless a route says otherwise; default `facilitator`. `{ chain: finality }`
   * needs a reader in `chains` for every network that is accepted.
   */
  readonly assurance?: Assurance;
  /**
   * How payments in doubt, and settlements that are not final, are looked after between {@link Seller.ready} and
   * {@link Seller.close}; on by default where `chains` has a reader.
   */
  readonly reconcile?: ReconcileSettings | 'off';
  /** What one payer may run up where the work comes first, unless a route says otherwise; default 3 unpaid runs. */
  readonly unpaidRuns?: UnpaidRuns;
  /** Paid requests under way in this process, and calls of a payer that may come to nothing; on by default. */
  readonly limits?: LimitOptions;
  /** Stops new work while the facilitator fails; on by default. */
  readonly breaker?: BreakerOptions;
  /** Routes that ask for the same terms; default `warn`. */
  readonly siblings?: SiblingPolicy;
  /** Pages of other origins that may buy; default none. */
  readonly cors?: CorsOptions;
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

export type ReadyTest = {
  /** From the adapter's `probe(application)`. */
  readonly probe: Probe;
  /** Names of routes that this application does not serve, as `GET /weather`. */
  readonly except?: readonly string[];
};

export type Seller = {
  /**
   * Resolves when the facilitator settles everything that is accepted and, given a probe, every declared route was met
   * behind its gate; rejects with the reasons otherwise. From here on the background looks after what is in doubt.
   */
  readonly ready: (test?: ReadyTest) => Promise<void>;
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
  /** Finds the route of a request, for gates that stand before many routes; see {@link CatalogueOptions}. */
  readonly catalogue: <R extends Listed>(
    routes: readonly R[],
    options?: CatalogueOptions,
  ) => { readonly find: (request: Sought) => Found<R> };
  /** Ends the background and closes the store. */
  readonly close: () => Promise<void>;
};

/** What a catalogue finds a route by. */
export type Sought = Pick<SellerRequest, 'method' | 'target'> & {
  /** Access-Control-Request-Method: a browser asks for the route of that method, before it uses it (H02). */
  readonly preflight?: string | undefined;
  /** A payment comes with it, of which a refusal then knows nothing. */
  readonly pays?: boolean | undefined;
};

/** A priced route, a free request, or the answer of one that is neither. */
export type Found<R> =
  | { readonly kind: 'route'; readonly route: R }
  | { readonly kind: 'free' }
  | { readonly kind: 'refused'; readonly delivery: Delivery };

const optionNames: ReadonlySet<string> = new Set([
  'world',
  'store',
  'facilitator',
  'chains',
  'origin',
  'trustProxy',
  'binding',
  'assurance',
  'reconcile',
  'unpaidRuns',
  'limits',
  'breaker',
  'siblings',
  'cors',
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
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('createSeller needs an object of options.');
  }
  const shop = openShop(options);
  const background = backgroundOf(shop, options);
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
    ready: async (test) => {
      shop.roster.announce();
      background?.start();
      const state = await shop.readiness.check();
      if (state.state === 'not_ready')
        throw new Error(`The facilitator could not be asked what it settles: ${state.why}.`);
      if (state.state === 'uncovered') throw new Error(state.why);
      await watchClocks(shop);
      if (test === undefined) return;
      checkTest(test);
      const { probe, except = [] } = test;
      const { roster, mark, places } = shop;
      await selfTest({ routes: roster.routes(), probe, except, mark, origin: places.origin });
    },
    route,
    catalogue: (routes, options) => {
      const catalogue = createCatalogue(routes, options);
      return {
        find: ({ method, target, preflight, pays = false }) => {
          const wanted =
            method === 'OPTIONS' && preflight !== undefined ? catalogue.find(preflight, target) : undefined;
          const found = wanted?.kind === 'route' ? wanted : catalogue.find(method, target);
          if (found.kind !== 'refused') return found;
          const unpaid = { money: 'unmoved', retry: 'never' } as const;
          const refusal = pays ? beforeLookup(found.refusal, true) : { ...found.refusal, ...unpaid };
          const { headers, ...answer } = problemAnswer(refusal);
          const allow: HeaderList = found.allow === undefined ? [] : [['allow', found.allow.join(', ')]];
          return { kind: 'refused', delivery: plain({ ...answer, headers: [...headers, ...allow] }) };
        },
      };
    },
    charge: (route, request, work) => charge(shop, route, { request, work }),
    close: async () => {
      await background?.stop();
      await shop.store.close();
    },
  } satisfies Seller);
}

/** Without a chain to read there is nothing to look up. */
function backgroundOf(
  shop: Shop,
  { reconcile, chains = {} }: SellerOptions,
): ReturnType<typeof createBackground> | undefined {
  if (reconcile === 'off') return undefined;
  const settings = checkReconcile(reconcile ?? {});
  if (Object.keys(chains).length > 0) return createBackground(shop, settings);
  if (reconcile !== undefined) throw new TypeError('reconcile needs chains with a reader to ask.');
  return undefined;
}

function openShop(options: SellerOptions): Shop {
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) throw new TypeError(`A seller has no option "${name}".`);
  }
  checkParts(options);
  const { world, accepts, assets = [], storeKey, chains = {}, siblings = 'warn' } = options;
  const { assurance = 'facilitator' } = options;
  checkAssuranceWord(assurance);
  if (siblings !== 'warn' && siblings !== 'refuse' && siblings !== 'dither') {
    throw new TypeError(`siblings is "warn", "refuse" or "dither", not "${siblings}".`);
  }
  defineTerms({ accepts, assets });
  const observe = quiet(options.observe ?? (() => {}));
  exposureLimits(options.unpaidRuns);
  const limits = createLimits(options, { world, observe });
  const facilitator = watchFacilitator(guardFacilitator(world, options.facilitator), limits.breaker);
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
    places: createPlaces({
      origins: typeof options.origin === 'string' ? [options.origin] : options.origin,
      ...(options.trustProxy === undefined ? {} : { trustProxy: options.trustProxy }),
    }),
    cors: createCors(options.cors),
    binding: options.binding ?? 'echoed',
    assurance,
    unpaidRuns: options.unpaidRuns,
    limits,
    roster: createRoster({ policy: siblings, sha256: world.sha256, observe }),
    mark: encodeHex(world.random(16)).slice(2),
    quoteKey: deriveMacKey(storeKey, 'quote'),
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
    inFlightTexts: new Map(),
    lookups: new Map(),
    untold: { count: 0 },
    contracts: { running: 0 },
    tidy: housekeeper(store),
    nextOwner: () => {
      visits += 1;
      return `${instance}:${visits}`;
    },
  };
}

/** A finality that is none does not say by itself which option it stood in. */
function checkAssuranceWord(assurance: Assurance): void {
  try {
    finalityOf(assurance);
  } catch (cause) {
    const why = cause instanceof TypeError ? cause.message : '';
    throw new TypeError(why.startsWith('assurance') ? why : `assurance: ${why}`, { cause });
  }
}

function checkTest(test: ReadyTest): void {
  for (const name of Object.keys(test)) {
    if (name !== 'probe' && name !== 'except') throw new TypeError(`ready has no option "${name}".`);
  }
  if (typeof test.probe !== 'function') throw new TypeError('ready needs the probe of an adapter.');
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
