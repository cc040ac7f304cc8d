/** Chance that can be repeated: every choice of a round comes from its seed, and from nothing else. */

export type Luck = {
  /** A whole number from 0 to below `count`. */
  readonly below: (count: number) => number;
  /** A whole number from `least` to `most`, both included. */
  readonly between: (least: number, most: number) => number;
  readonly pick: <T>(list: readonly [T, ...T[]]) => T;
  readonly chance: (share: number) => boolean;
};

/** Seeds are whole numbers of this size at most, so that they can be typed. */
export const largestSeed = 2_147_483_647;

/** Luck of a seed; the words keep two series with one seed apart. */
export function createLuck(seed: number, ...words: readonly string[]): Luck {
  let state = hash(`${seed} ${words.join(' ')}`);
  // mulberry32: 32 bits of state are enough for some dozen choices.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    pick: (list) => list[below(list.length)] ?? list[0],
    chance: (share) => next() < share,
  };
}

/** FNV-1a, so that neighbouring seeds begin far apart. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value;
}
