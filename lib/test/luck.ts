/** Chance from a seed: the same seed makes the same run, so that a failure can be looked at again. */

export type Luck = {
  /** From 0 up to but not including 1. */
  readonly roll: () => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(from: readonly T[]) => T;
  /** Picks by weights, which are whole numbers. */
  readonly weigh: <T extends string>(weights: Readonly<Record<T, number>>) => T;
  readonly bytes: (length: number) => Uint8Array;
};

/** A mulberry32 generator. */
export function createLuck(seed: number): Luck {
  let state = seed >>> 0;
  const roll = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const pick = <T>(from: readonly T[]): T => {
    const chosen = from[Math.floor(roll() * from.length)];
    if (chosen === undefined) throw new RangeError('There is nothing to pick from.');
    return chosen;
  };
  return {
    roll,
    chance: (probability) => roll() < probability,
    pick,
    weigh: <T extends string>(weights: Readonly<Record<T, number>>): T => {
      const names = Object.keys(weights) as T[];
      return pick(names.flatMap((name) => Array.from({ length: weights[name] }, () => name)));
    },
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(roll() * 256)),
  };
}
