/** Checks that the options of the limits share; each mistake is a TypeError that names the option. */

/** Throws for a member that there is not, and for what is no object. */
export function checkNames(option: string, given: object, names: readonly string[]): void {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${option} is an object of limits.`);
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) throw new TypeError(`${option} has no member "${name}".`);
  }
}

/** Throws unless the value is a whole number from 1 to `most`. */
export function checkCount(option: string, value: unknown, most: number): void {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > most) {
    throw new TypeError(`${option} must be a whole number from 1 to ${most}.`);
  }
}
