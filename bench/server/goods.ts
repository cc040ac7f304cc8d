/**
 * What every server of the comparison sells: the same small answer at the same paths, by the same handler. A path
 * `/free` costs nothing anywhere, so that connections can be opened before a clock starts.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** What one server sells in one scenario. */
export type Goods = {
  /** One pattern that matches all of `paths`, as Express and Hono write them. */
  readonly pattern: string;
  readonly paths: readonly string[];
  /** How long the handler takes; 0 answers at once. */
  readonly workMs: number;
};

/** The handler's answer, and how often it began. */
export type Work = {
  readonly runs: () => number;
  readonly answer: () => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;
};

export const freePath = '/free';
/** In dollars, for ours; the official packages know no price in a token of this machine and take `amount`. */
export const price = '$0.01';
/** The same in atomic units. */
export const amount = '10000';
export const network = 'eip155:31337';
export const payTo = '0x00000000000000000000000000000000000beef1';
/** A token with the domain of a bridged dollar; no contract is ever asked. */
export const token = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'LUSD',
  decimals: 6,
  name: 'Local USD',
  version: '2',
} as const;

/** Counts and does the work of one server. */
export function createWork(workMs: number): Work {
  let runs = 0;
  const answer = { sky: 'clear', wind: 3 };
  const slow = async (): Promise<typeof answer> => {
    await sleep(workMs);
    return answer;
  };
  return {
    runs: () => runs,
    answer: () => {
      runs += 1;
      return workMs === 0 ? answer : slow();
    },
  };
}
