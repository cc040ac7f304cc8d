/** Checks that the readers of a chain share; each mistake of the program is a TypeError that names the option. */

/** A buyer waits for a call, and a lease is over sooner than this: what waits longer has no limit. */
const mostTimeoutMs = 60_000;

/** Throws for what is no object, and for a member that nobody reads, since a misspelt limit is no limit. */
export function checkMembers(name: string, given: unknown, known: ReadonlySet<string>): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${name} needs an object of options.`);
  }
  for (const member of Object.keys(given)) {
    if (!known.has(member)) throw new TypeError(`${name} has no option "${member}".`);
  }
}

/** Throws unless it can be called. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function.`);
}

/** Throws unless it is absent or whole milliseconds from 1 to {@link mostTimeoutMs}. */
export function checkTimeout(value: unknown): void {
  if (value === undefined) return;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= mostTimeoutMs) return;
  throw new TypeError(`timeoutMs must be a whole number from 1 to ${mostTimeoutMs}.`);
}

/** Throws unless they are absent or an object of strings; what they say is a secret and is not repeated. */
export function checkHeaders(name: string, value: unknown): void {
  if (value === undefined) return;
  const whole = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!whole || !Object.values(value).every((text) => typeof text === 'string')) {
    throw new TypeError(`${name} must be an object of strings.`);
  }
}

/** Throws unless it is an http or https address; its path may hold a key and is not repeated. */
export function checkHttpUrl(name: string, value: unknown): void {
  if (typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return;
  throw new TypeError(`${name} must be http or https.`);
}
