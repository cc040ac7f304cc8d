/** Reads what another process said: unknown until it was looked at, member by member. */

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

/** A finite number, not negative, among the members. */
export function readNumber(object: Readonly<Record<string, unknown>>, name: string): number {
  const value = object[name];
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw new TypeError(`${name} is not a number`);
}

/** A list of texts among the members. */
export function readTexts(object: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value: unknown = object[name];
  if (Array.isArray(value) && value.every((entry: unknown) => typeof entry === 'string')) return value;
  throw new TypeError(`${name} is not a list of texts`);
}
