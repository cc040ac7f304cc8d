/**
 * What is asked: the entries of `accepts` for the exact scheme with EIP-3009 (formats 2.2). Everything that can be
 * wrong with a configuration is found here, at the start, and is a TypeError; what a price function gives later
 * is judged by the same rules and is then a refusal of that one request.
 */
import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';
import { eip155ChainId } from '../wire/caip.ts';
import type { PaymentRequirements } from '../wire/v2.ts';
import type { Asset, AssetTable } from './assets.ts';
import { configuredAddress, createAssetTable } from './assets.ts';
import type { PriceOf, Prices } from './price.ts';
import { priceAmounts } from './price.ts';

/** When the money moves (x402 v2 section 6.1); escrow belongs to other schemes. */
export type Flow = 'authorization' | 'upfront';

/** A network that is accepted, and the address there that is paid. */
export type Acceptance = { readonly network: string; readonly payTo: string };

export type TermsOptions = {
  /** One entry for each network, in the order in which they are offered. */
  readonly accepts: readonly Acceptance[];
  /** Assets of {@link defineAsset} beside the well-known ones. */
  readonly assets?: readonly Asset[];
  /** Default `authorization`. */
  readonly flow?: Flow;
  /** Default 300 (design 9.17). */
  readonly maxTimeoutSeconds?: number;
};

/** Checked terms of a route, everything but its price. */
export type Terms = {
  readonly flow: Flow;
  readonly maxTimeoutSeconds: number;
  readonly networks: readonly string[];
  /** By network, EIP-55. */
  readonly payTo: ReadonlyMap<string, string>;
  readonly assets: AssetTable;
};

/** Asks the price of one request; the entries are frozen and, for a fixed price, always the same objects. */
export type Quote<Parsed> = (
  parsed: Parsed,
) => Outcome<readonly PaymentRequirements[]> | Promise<Outcome<readonly PaymentRequirements[]>>;

/** How long an authorization lives unless the route says otherwise, seconds (design 9.17). */
export const defaultMaxTimeoutSeconds = 300;
/** A day; an authorization that lives longer is a blank cheque, and records must outlive it. */
const longestTimeoutSeconds = 86_400;
/** The 402 header has 8 KiB at most (design 4), and an entry takes about 450 octets of it. */
const maxAccepts = 12;

const optionKeys = new Set(['accepts', 'assets', 'flow', 'maxTimeoutSeconds']);
const acceptanceKeys = new Set(['network', 'payTo']);

/** Checks what a seller configured; any mistake is a TypeError that names it. */
export function defineTerms(options: TermsOptions): Terms {
  for (const key of Object.keys(options)) {
    if (!optionKeys.has(key)) throw new TypeError(`Terms have no option "${key}".`);
  }
  const { accepts, flow = 'authorization', maxTimeoutSeconds = defaultMaxTimeoutSeconds } = options;
  if (flow !== 'authorization' && flow !== 'upfront')
    throw new TypeError(`The flow "${flow}" is not served.`);
  if (
    !Number.isInteger(maxTimeoutSeconds) ||
    maxTimeoutSeconds < 1 ||
    maxTimeoutSeconds > longestTimeoutSeconds
  ) {
    throw new TypeError(`maxTimeoutSeconds must be a whole number from 1 to ${longestTimeoutSeconds}.`);
  }
  if (!Array.isArray(accepts) || accepts.length === 0 || accepts.length > maxAccepts) {
    throw new TypeError(`Terms accept from 1 to ${maxAccepts} networks.`);
  }
  const payTo = new Map<string, string>();
  for (const acceptance of accepts) {
    for (const key of Object.keys(acceptance)) {
      if (!acceptanceKeys.has(key)) throw new TypeError(`An accepted network has no member "${key}".`);
    }
    const { network, payTo: address } = acceptance;
    if (eip155ChainId(network) === undefined)
      throw new TypeError(`The network "${network}" is not served; use eip155:<chain id>.`);
    if (payTo.has(network)) throw new TypeError(`The network ${network} is accepted twice.`);
    payTo.set(network, configuredAddress(address, `payTo on ${network}`));
  }
  return Object.freeze({
    flow,
    maxTimeoutSeconds,
    networks: [...payTo.keys()],
    payTo,
    assets: createAssetTable(options.assets),
  });
}

/** The entries of `accepts` for a fixed price; a price that cannot be asked exactly is a TypeError. */
export function buildRequirements(prices: Prices, terms: Terms): readonly PaymentRequirements[] {
  const built = tryBuild(prices, terms);
  if (!built.ok) throw new TypeError(built.why);
  return built.requirements;
}

/**
 * Prepares the price of a route. A fixed price is built now, so a mistake is a TypeError at the start; a function
 * that throws or gives no usable price refuses its own request with `price_unavailable`, never a default price, and
 * tells `report` why.
 */
export function createQuote<Parsed>(
  price: PriceOf<Parsed>,
  terms: Terms,
  report: (fault: unknown) => void = () => {},
): Quote<Parsed> {
  if (typeof price !== 'function') {
    const fixed = succeed(buildRequirements(price, terms));
    return () => fixed;
  }
  return async (parsed) => {
    try {
      const built = tryBuild(await price(parsed), terms);
      if (built.ok) return succeed(built.requirements);
      report(new TypeError(built.why));
    } catch (fault) {
      report(fault);
    }
    return refuse('price_unavailable');
  };
}

type Built =
  | { readonly ok: true; readonly requirements: readonly PaymentRequirements[] }
  | { readonly ok: false; readonly why: string };

function tryBuild(prices: unknown, terms: Terms): Built {
  const priced = priceAmounts(prices, terms.networks, terms.assets);
  if (!priced.ok) return priced;
  if (priced.amounts.length > maxAccepts)
    return { ok: false, why: `A 402 has at most ${maxAccepts} entries.` };
  const seen = new Set<string>();
  const requirements: PaymentRequirements[] = [];
  for (const { asset, amount } of priced.amounts) {
    const known = terms.assets.lookup(asset.network, asset.address);
    const payTo = terms.payTo.get(asset.network);
    const name = `${asset.symbol} on ${asset.network}`;
    if (known !== asset) return { ok: false, why: `${name} is not among the assets of these terms.` };
    if (payTo === undefined)
      return { ok: false, why: `${name} has a price, but its network is not accepted.` };
    if (payTo === asset.address) return { ok: false, why: `payTo of ${name} is the token itself.` };
    if (seen.has(`${asset.network}/${asset.address}`)) return { ok: false, why: `${name} has two prices.` };
    seen.add(`${asset.network}/${asset.address}`);
    requirements.push(requirement({ asset, amount, payTo, terms }));
  }
  return { ok: true, requirements: Object.freeze(requirements) };
}

function requirement(input: {
  readonly asset: Asset;
  readonly amount: bigint;
  readonly payTo: string;
  readonly terms: Terms;
}): PaymentRequirements {
  const { asset, amount, payTo, terms } = input;
  const { name, version } = asset.domain;
  // The flow must be named unless it is `authorization`; the transfer method is left out because eip3009 is the
  // scheme's default (x402 v2 section 6.1, exact EVM).
  const extra =
    terms.flow === 'authorization' ? { name, version } : { name, version, paymentFlow: terms.flow };
  return Object.freeze({
    scheme: 'exact',
    network: asset.network,
    amount,
    asset: asset.address,
    payTo,
    maxTimeoutSeconds: terms.maxTimeoutSeconds,
    extra: Object.freeze(extra),
  });
}
