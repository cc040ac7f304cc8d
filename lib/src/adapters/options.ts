/** A name that nobody reads would be a protection that is not there. */
export function checkNames(what: string, options: object, names: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new TypeError(`${what} has no option "${name}".`);
  }
}
