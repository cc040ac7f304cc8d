/** Reads what another process of the demonstration said: unknown until it was looked at, member by member. */

/** The value as an object with named members; anything else is a TypeError. */
export function readObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw new TypeError(`${name} is not an object`);
}

/** Whether the value has named members. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text among the members. */
export function readText(object: Readonly<Record<string, unknown>>, name: string): string {
  const value = object[name];
  if (typeof value === 'string') return value;
  throw new TypeError(`${name} is not a text`);
}

/** A whole number, not negative, among the members. */
export function readCount(object: Readonly<Record<string, unknown>>, name: string): number {
  const value = object[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`${name} is not a count`);
}

/** A `0x` text among the members. */
export function readHex(object: Readonly<Record<string, unknown>>, name: string): `0x${string}` {
  const value = readText(object, name);
  if (isHex(value)) return value;
  throw new TypeError(`${name} is not hex`);
}

function isHex(text: string): text is `0x${string}` {
  return /^0x[0-9a-fA-F]*$/.test(text);
}

/** A list among the members, each entry read by `read`. */
export function readList<Entry>(
  object: Readonly<Record<string, unknown>>,
  name: string,
  read: (entry: unknown) => Entry,
): readonly Entry[] {
  const value: unknown = object[name];
  if (!Array.isArray(value)) throw new TypeError(`${name} is not a list`);
  return value.map((entry: unknown) => read(entry));
}
