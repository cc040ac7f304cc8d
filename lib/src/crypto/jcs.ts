/**
 * The canonical form of JSON (RFC 8785) for what this project hashes and signs. The library would also take
 * dates, boxed values and `toJSON`; here only what a JSON parser returns is canonical, and only integers that
 * every language reads alike.
 */
import serialize from 'canonicalize';

/** As deep as the strict parser reads (formats 12.1). */
const maxDepth = 32;

/**
 * The canonical text of parsed JSON, or undefined where the value has none here: a number that is not a safe
 * integer, a lone surrogate, something a JSON parser does not return, or more than 32 levels.
 */
export function canonicalJson(value: unknown): string | undefined {
  return isCanonical(value, 1) ? serialize(value) : undefined;
}

function isCanonical(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed();
    case 'number':
      return Number.isSafeInteger(value);
    case 'boolean':
      return true;
    case 'object':
      return value === null || isCanonicalContainer(value, depth);
    default:
      return false;
  }
}

function isCanonicalContainer(container: object, depth: number): boolean {
  if (depth > maxDepth) return false;
  if (Array.isArray(container)) {
    // A hole is no JSON; `every` would skip it.
    return Array.from(container).every((item: unknown) => isCanonical(item, depth + 1));
  }
  const prototype: unknown = Object.getPrototypeOf(container);
  if (prototype !== null && prototype !== Object.prototype) return false;
  return Object.entries(container).every(([key, item]) => key.isWellFormed() && isCanonical(item, depth + 1));
}
