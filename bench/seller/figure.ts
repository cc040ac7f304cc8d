/**
 * Medians and ratios. Rounds of the compared servers lie beside each other in time, so they are compared round by
 * round and the median of that is given: what disturbed the machine then disturbed both.
 */

/** The middle value, or the mean of the two in the middle; a TypeError of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new TypeError('Nothing has no median.');
  return (lower + upper) / 2;
}

/** The median over the rounds of `a / b`. */
export function ratio(a: readonly number[], b: readonly number[]): number {
  return median(a.map((value, round) => value / at(b, round)));
}

/** The median over the rounds of `a - b`. */
export function addition(a: readonly number[], b: readonly number[]): number {
  return median(a.map((value, round) => value - at(b, round)));
}

function at(values: readonly number[], round: number): number {
  const value = values[round];
  if (value === undefined) throw new TypeError('Both need a value of each round.');
  return value;
}
