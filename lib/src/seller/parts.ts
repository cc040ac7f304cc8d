/**
 * The options of a seller that nothing else checks as it is made: each mistake is a TypeError that names the option,
 * because what opens quietly fails at the first sale, or, with a reader that nobody asks, never and unseen.
 */
import { storeKeyLength } from '../crypto/seal.ts';
import { parseNetwork } from '../wire/caip.ts';

/** A method by which each part is known to be one. */
const parts = { world: 'sha256', store: 'take', facilitator: 'settle' } as const;
const readerMethods = ['fate', 'head', 'blockNumber', 'hasCode'] as const;

/** Checks what is missing, and what is of another kind than it should be. */
export function checkParts(options: object): void {
  for (const [name, method] of Object.entries(parts)) {
    if (!hasMethod(Reflect.get(options, name), method)) throw new TypeError(`A seller needs a ${name}.`);
  }
  checkKey(Reflect.get(options, 'storeKey'));
  checkOrigin(Reflect.get(options, 'origin'));
  checkChains(Reflect.get(options, 'chains'));
  const { observe, instance, assets }: Record<string, unknown> = { ...options };
  if (observe !== undefined && typeof observe !== 'function') {
    throw new TypeError('observe must be a function.');
  }
  if (instance !== undefined && (typeof instance !== 'string' || instance === '')) {
    throw new TypeError('instance must be a text that is not empty.');
  }
  if (assets !== undefined && !Array.isArray(assets)) throw new TypeError('assets must be a list of assets.');
  for (const name of ['lease', 'reconcile', 'limits', 'breaker', 'unpaidRuns']) {
    checkGroup(name, Reflect.get(options, name));
  }
}

/** A word is left to whoever reads the group: several of them can be switched off by one. */
function checkGroup(name: string, value: unknown): void {
  if (value === undefined || isObject(value)) return;
  if (name === 'lease' || typeof value !== 'string') throw new TypeError(`${name} is an object of options.`);
  if (name === 'reconcile' && value !== 'off') {
    throw new TypeError('reconcile is "off" or an object of options.');
  }
}

function checkKey(key: unknown): void {
  if (!(key instanceof Uint8Array) || key.length !== storeKeyLength) {
    throw new TypeError(`storeKey must be ${storeKeyLength} octets.`);
  }
  if (key.every((octet) => octet === 0)) throw new TypeError('storeKey is all zeros, which everybody knows.');
}

function checkOrigin(origin: unknown): void {
  const origins: unknown = typeof origin === 'string' ? [origin] : origin;
  if (Array.isArray(origins) && origins.every((one) => typeof one === 'string')) return;
  throw new TypeError('origin must be an address as https://api.example.com, or a list of them.');
}

/** Networks that are not accepted are let in: what was sold there before may still be in doubt. */
function checkChains(chains: unknown): void {
  if (chains === undefined) return;
  if (!isObject(chains)) throw new TypeError('chains must be an object of readers by network.');
  for (const [network, reader] of Object.entries(chains)) {
    if (parseNetwork(network) === undefined) {
      throw new TypeError(`chains: "${network}" is no CAIP-2 network, as eip155:8453 is.`);
    }
    const lacks = readerMethods.find((method) => !hasMethod(reader, method));
    if (lacks !== undefined)
      throw new TypeError(`chains["${network}"] is no chain reader: it has no ${lacks}.`);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasMethod(part: unknown, method: string): boolean {
  return isObject(part) && typeof Reflect.get(part, method) === 'function';
}
