/**
 * Reads typed members out of strict JSON and names every member that is wrong by its path and by what was
 * expected. Nothing that was sent is repeated in a finding. A reader goes on after a fault with an empty value,
 * so that one look finds all faults; `conclude` lets no value out while there is one.
 */

import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';
import { parseAmount } from './amount.ts';
import { parseNetwork } from './caip.ts';
import { isJsonObject } from './json.ts';
import type { Json, JsonObject } from './v2.ts';

/**
 * An object under inspection; `path` is '' at the root and `findings` is shared by the whole message. What
 * stands in for a missing object is muted, because one finding says already that it is missing.
 */
export type Shape = {
  readonly value: JsonObject;
  readonly path: string;
  readonly findings: string[];
  readonly muted: boolean;
};

/** What a text must be beyond a string: a test, and its words for the sender. */
export type TextRule = { readonly test: (text: string) => boolean; readonly expected: string };

/** A message with hundreds of faults is told of the first few. */
const maxFindings = 20;

const empty: JsonObject = Object.freeze(Object.create(null));

/** Any text; its length is bounded by that of the whole message. */
export const anyText: TextRule = { test: () => true, expected: 'a string' };

/** Scheme names are short words. */
export const schemeText: TextRule = {
  test: (text) => /^[!-~]{1,64}$/.test(text),
  expected: 'a scheme name of 1 to 64 printable characters',
};

/** Addresses, mints, currency codes, role names and transaction ids hold no space; the longest known are about 110 characters. */
export const identifierText: TextRule = {
  test: (text) => /^[!-~]{1,256}$/.test(text),
  expected: '1 to 256 printable ASCII characters without a space',
};

/** As {@link identifierText}, or empty where nothing was broadcast. */
export const transactionText: TextRule = {
  test: (text) => /^[!-~]{0,256}$/.test(text),
  expected: 'a transaction id or an empty string',
};

/** CAIP-2 in its canonical spelling. */
export const networkText: TextRule = {
  test: (text) => parseNetwork(text) !== undefined,
  expected: 'a canonical CAIP-2 network such as eip155:8453',
};

/**
 * The specification leaves a URL's form open (tools have `mcp:` ones); control characters and spaces are in none.
 * What a 402 of ours may name, a payment may echo: no shorter than the longest URL that is bound (payment/url.ts).
 */
export const urlText: TextRule = {
  test: (text) => text.length <= 8192 && /^[^\p{Cc}\p{Z}]+$/u.test(text),
  expected: 'a URL of 1 to 8192 characters',
};

/** Section 5.1: absolute, http or https, at most 2,048 characters. */
export const iconUrlText: TextRule = {
  test: (text) => text.length <= 2048 && /^https?:\/\/[^\p{Cc}\p{Z}]+$/iu.test(text),
  expected: 'an absolute http or https URL of at most 2048 characters',
};

/** Section 5.1: service name and tags. */
export const labelText: TextRule = {
  test: (text) => /^[ -~]{1,32}$/.test(text),
  expected: '1 to 32 printable ASCII characters',
};

function kindOf(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function note(shape: Shape, key: string, finding: string): void {
  if (shape.muted || shape.findings.length >= maxFindings) return;
  shape.findings.push(`${pathOf(shape, key)}: ${finding}`);
}

function pathOf(shape: Shape, key: string): string {
  return shape.path === '' ? key : `${shape.path}.${key}`;
}

function child(shape: Shape, key: string, value: JsonObject | undefined): Shape {
  const muted = value === undefined;
  return { value: value ?? empty, path: pathOf(shape, key), findings: shape.findings, muted };
}

/** The member, or undefined where it is absent or null, which are the same in wire objects (attack P08). */
function member(shape: Shape, key: string): Json | undefined {
  return shape.value[key] ?? undefined;
}

function checkText(shape: Shape, key: string, check: { value: Json | undefined; rule: TextRule }): string {
  const { value, rule } = check;
  if (typeof value !== 'string') {
    note(shape, key, `expected a string, got ${kindOf(value)}`);
    return '';
  }
  if (!rule.test(value)) note(shape, key, `expected ${rule.expected}`);
  return value;
}

/** Begins the inspection of a message. */
export function inspect(json: Json): Shape {
  if (isJsonObject(json)) return { value: json, path: '', findings: [], muted: false };
  return {
    value: empty,
    path: '',
    findings: [`message: expected an object, got ${kindOf(json)}`],
    muted: true,
  };
}

/** A required string. */
export function text(shape: Shape, key: string, rule: TextRule): string {
  return checkText(shape, key, { value: member(shape, key), rule });
}

/** An optional string. */
export function optionalText(shape: Shape, key: string, rule: TextRule): string | undefined {
  const value = member(shape, key);
  return value === undefined ? undefined : checkText(shape, key, { value, rule });
}

/** An optional list of at most `most` strings. */
export function optionalTexts(
  shape: Shape,
  key: string,
  limits: { readonly most: number; readonly rule: TextRule },
): readonly string[] | undefined {
  const value = member(shape, key);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    note(shape, key, `expected an array, got ${kindOf(value)}`);
    return undefined;
  }
  if (value.length > limits.most) note(shape, key, `expected at most ${limits.most} entries`);
  const kept: readonly Json[] = value.slice(0, limits.most);
  return Object.freeze(
    kept.map((entry, index) => checkText(shape, `${key}[${index}]`, { value: entry, rule: limits.rule })),
  );
}

/** A required boolean; the strings "true" and "false" are none (attack F02). */
export function boolean(shape: Shape, key: string): boolean {
  const value = member(shape, key);
  if (typeof value === 'boolean') return value;
  note(shape, key, `expected true or false, got ${kindOf(value)}`);
  return false;
}

/** A required whole number of at least 1; JSON already bounds it at 2^53 - 1. */
export function positiveInteger(shape: Shape, key: string): number {
  const value = member(shape, key);
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  note(shape, key, `expected a whole number of at least 1, got ${kindOf(value)}`);
  return 1;
}

/** The version; version 2 is the only one that these shapes have. */
export function versionTwo(shape: Shape): 2 {
  const value = member(shape, 'x402Version');
  if (value !== 2) note(shape, 'x402Version', 'expected the number 2');
  return 2;
}

/** An optional amount in atomic units, a decimal string on the wire (attack P05). */
export function optionalAmount(shape: Shape, key: string): bigint | undefined {
  const value = member(shape, key);
  if (value === undefined) return undefined;
  const amount = typeof value === 'string' ? parseAmount(value) : undefined;
  if (amount !== undefined) return amount;
  note(shape, key, `expected atomic units as a decimal string below 2^256, got ${kindOf(value)}`);
  return 0n;
}

/** A required amount. */
export function amount(shape: Shape, key: string): bigint {
  const value = optionalAmount(shape, key);
  if (value === undefined) note(shape, key, 'expected atomic units as a decimal string, got nothing');
  return value ?? 0n;
}

/** An optional object, as it is. */
export function optionalObject(shape: Shape, key: string): JsonObject | undefined {
  const value = member(shape, key);
  if (value === undefined) return undefined;
  if (isJsonObject(value)) return value;
  note(shape, key, `expected an object, got ${kindOf(value)}`);
  return empty;
}

/** A required object, as it is. */
export function object(shape: Shape, key: string): JsonObject {
  const value = optionalObject(shape, key);
  if (value === undefined) note(shape, key, 'expected an object, got nothing');
  return value ?? empty;
}

/** An object that may be absent and is then empty. */
export function objectOrEmpty(shape: Shape, key: string): JsonObject {
  return optionalObject(shape, key) ?? empty;
}

/** A required object, to be inspected itself. */
export function nested(shape: Shape, key: string): Shape {
  const value = object(shape, key);
  return child(shape, key, value === empty ? undefined : value);
}

/** An optional object, to be inspected itself. */
export function optionalNested(shape: Shape, key: string): Shape | undefined {
  return member(shape, key) === undefined ? undefined : nested(shape, key);
}

/** A required array of objects, each to be inspected itself. */
export function nestedList(shape: Shape, key: string): readonly Shape[] {
  const value = member(shape, key);
  if (!Array.isArray(value)) {
    note(shape, key, `expected an array, got ${kindOf(value)}`);
    return [];
  }
  const entries: readonly Json[] = value;
  return entries.map((entry, index) => {
    const name = `${key}[${index}]`;
    if (isJsonObject(entry)) return child(shape, name, entry);
    note(shape, name, `expected an object, got ${kindOf(entry)}`);
    return child(shape, name, undefined);
  });
}

/** Optional keys may be given as undefined here and are absent in the result. */
type Loose<T> = {
  readonly [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K];
};

/** The object without its undefined members, frozen. */
export function present<T extends object>(loose: Loose<T>): T {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(loose)) if (value !== undefined) kept[key] = value;
  return Object.freeze(kept) as T;
}

/** The message, or `payment_malformed` with the first finding. */
export function conclude<T>(shape: Shape, value: T): Outcome<T> {
  const [first] = shape.findings;
  return first === undefined ? succeed(value) : refuse('payment_malformed', { detail: first });
}
