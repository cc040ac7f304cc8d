/** What a seller of a fleet is told, what it says, and what it sells: known to its own process and to whoever starts it. */
import type { LeaseSettings } from 'counterfoil/seller';
import type { Point } from '../round/point.ts';
import type { StorePlace } from './store.ts';

/** The dollar as viem and the seller know it. */
export type Dollar = {
  readonly address: string;
  readonly decimals: number;
  readonly name: string;
  readonly symbol: string;
  readonly version: string;
};

export type SellerConfig = {
  /** In the history: `p1`. */
  readonly name: string;
  /** Of the fleet: orders and the journal. */
  readonly folder: string;
  readonly store: StorePlace;
  readonly network: string;
  readonly dollar: Dollar;
  readonly payTo: string;
  readonly rpcUrl: string;
  readonly facilitatorUrl: string;
  readonly lease: LeaseSettings;
  readonly settleMs: number;
  /** Runs of the work that one payment may start. */
  readonly attempts: number;
};

/** What a seller tells whoever started it. */
export type Told =
  | { readonly kind: 'open'; readonly url: string }
  /** It reached a point at which it was to report or to halt. */
  | { readonly kind: 'reached'; readonly point: Point };

/** The same through every restart, unlike the port: what is bought is named by it. */
export const origin = 'https://shop.example';
export const price = '$0.01';

/** The file of the fleet's journal. */
export function journalIn(folder: string): string {
  return `${folder}/journal`;
}

/** What one run of the work makes: told apart from that of any other run, and as long as was asked. */
export function goods(nonce: string, attempt: number, size: number): string {
  return `${nonce} run ${attempt} `.padEnd(size, '.');
}
