/**
 * The public conformance suite of claim stores: every operation of the contract and every rule of design section 3
 * that the contract reaches, for node:test. Needs `fast-check` beside it.
 */
import { test } from 'node:test';
import { aliasCases } from './conformance/alias.ts';
import { type OpenStore, runCase, type StoreCase } from './conformance/bench.ts';
import { earlierCases } from './conformance/earlier.ts';
import { exposureCases } from './conformance/exposure.ts';
import { durableCases, keepCases } from './conformance/keep.ts';
import { moneyCases } from './conformance/money.ts';
import { proofCases } from './conformance/proof.ts';
import { compareHistories } from './conformance/random.ts';
import { takeCases } from './conformance/take.ts';
import { workCases } from './conformance/work.ts';

export type { OpenStore, StoreCase, StoreLimits, StoreUnderTest } from './conformance/bench.ts';

/** Random histories per run; about two seconds on two cores with an embedded store. */
export const defaultHistories = 1_000;

export type ConformanceOptions = {
  /** Stands before each test's name. */
  readonly name: string;
  /** Opens a new, empty store under the given limits. */
  readonly open: OpenStore;
  /** True where another process can open the same data. */
  readonly durable: boolean;
  readonly histories?: number;
  readonly seed?: number;
};

/** The cases one by one, for runners other than node:test; each rejects where the store breaks its sentence. */
export function claimStoreCases(durable: boolean): readonly StoreCase[] {
  const always = [
    ...takeCases,
    ...workCases,
    ...moneyCases,
    ...earlierCases,
    ...aliasCases,
    ...exposureCases,
    ...proofCases,
    ...keepCases,
  ];
  return durable ? [...always, ...durableCases] : always;
}

/** Runs one of {@link claimStoreCases} against a new store. */
export async function runStoreCase(one: StoreCase, open: OpenStore): Promise<void> {
  await runCase(one, open);
}

/**
 * Registers the whole suite with node:test.
 *
 * @example
 * claimStoreConformance({ name: 'my store', durable: true, open: openMyStoreForTests });
 */
export function claimStoreConformance(options: ConformanceOptions): void {
  const { name, open, durable, histories = defaultHistories, seed = 20_261_130 } = options;
  for (const one of claimStoreCases(durable)) {
    test(`${name}: ${one.name}`, () => runCase(one, open));
  }
  test(`${name}: ${histories} random histories go as in the memory store`, () =>
    compareHistories(open, histories, seed));
}
