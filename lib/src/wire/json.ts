/**
 * Strict JSON for everything a stranger sends: one value per text and one text per value's meaning, so that
 * two parties can never read two different amounts out of the same bytes. Objects come back without a
 * prototype and frozen. Written by hand because JSON.parse lets duplicate keys, `__proto__`, lone surrogates
 * and rounded integers through (RFC 8259 section 4 leaves duplicates open; RFC 7493 closes it).
 */

import { decodeUtf8, utf8FaultAt } from './utf8.ts';
import type { Json, JsonObject } from './v2.ts';

/** Why a text is no JSON that we read; each has a sentence in {@link jsonFaults}. */
export type JsonFault =
  | 'too_long'
  | 'not_utf8'
  | 'byte_order_mark'
  | 'lone_surrogate'
  | 'unexpected_end'
  | 'syntax'
  | 'too_deep'
  | 'duplicate_key'
  | 'forbidden_key'
  | 'number_out_of_range'
  | 'trailing_data';

/** The value, or the fault with its position (bytes for `not_utf8`, else UTF-16 units, from 0). */
export type JsonResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly fault: JsonFault; readonly at: number };

/** `maxLength` counts bytes for bytes and UTF-16 units for text. */
export type JsonLimits = { readonly maxLength: number };

/** 12 KiB: what a header may hold under Node's 16 KiB for all fields together (formats section 12.1). */
export const headerJsonLimits: JsonLimits = { maxLength: 12 * 1024 };

/** Real messages nest about 8 deep; 32 leaves room for a JSON Schema and keeps the recursion shallow. */
export const maxJsonDepth = 32;

/** Each fault as a clause that may be shown to the sender; none repeats what was sent. */
export const jsonFaults: { readonly [fault in JsonFault]: string } = {
  too_long: 'longer than this reader accepts',
  not_utf8: 'not valid UTF-8',
  byte_order_mark: 'begins with a byte order mark',
  lone_surrogate: 'a surrogate without its other half',
  unexpected_end: 'ends too early',
  syntax: 'not JSON',
  too_deep: `nested deeper than ${maxJsonDepth} levels`,
  duplicate_key: 'a key stands twice in one object',
  forbidden_key: 'a key named __proto__, constructor or prototype',
  number_out_of_range: 'a number that a double cannot hold exactly',
  trailing_data: 'something follows the JSON value',
};

type Cursor = { readonly text: string; at: number; depth: number; fault: JsonFault | undefined };

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const escapePattern = /[0-9a-fA-F]{4}/y;
const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

function fail(cursor: Cursor, fault: JsonFault, at: number): undefined {
  cursor.fault = fault === 'syntax' && at >= cursor.text.length ? 'unexpected_end' : fault;
  cursor.at = at;
  return undefined;
}

/** Steps over the four white space characters of RFC 8259 and returns the code under the cursor (NaN at the end). */
function skipSpace(cursor: Cursor): number {
  for (;;) {
    const code = cursor.text.charCodeAt(cursor.at);
    if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) return code;
    cursor.at += 1;
  }
}

/** The UTF-16 unit of the four hex digits at `at`, or undefined. */
function readUnit(text: string, at: number): number | undefined {
  escapePattern.lastIndex = at;
  return escapePattern.test(text) ? Number.parseInt(text.slice(at, at + 4), 16) : undefined;
}

/** A `\u` escape with its surrogate partner where it needs one; `cursor.at` stands on the backslash. */
function readUnicodeEscape(cursor: Cursor): string | undefined {
  const { text, at } = cursor;
  const unit = readUnit(text, at + 2);
  if (unit === undefined) return fail(cursor, 'syntax', Math.min(at + 6, text.length));
  if (unit < 0xd800 || unit > 0xdfff) {
    cursor.at = at + 6;
    return String.fromCharCode(unit);
  }
  const low = unit < 0xdc00 && text.startsWith('\\u', at + 6) ? readUnit(text, at + 8) : undefined;
  if (low === undefined || low < 0xdc00 || low > 0xdfff) return fail(cursor, 'lone_surrogate', at);
  cursor.at = at + 12;
  return String.fromCharCode(unit, low);
}

function readEscape(cursor: Cursor): string | undefined {
  const letter = cursor.text.charAt(cursor.at + 1);
  if (letter === 'u') return readUnicodeEscape(cursor);
  const meaning = simpleEscapes.get(letter);
  if (meaning === undefined) return fail(cursor, 'syntax', cursor.at + 1);
  cursor.at += 2;
  return meaning;
}

/** A string; `cursor.at` stands on the opening quote. The common string has no escape and is one slice. */
function readString(cursor: Cursor): string | undefined {
  const { text } = cursor;
  let start = cursor.at + 1;
  let at = start;
  let done = '';
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      cursor.at = at + 1;
      return done + text.slice(start, at);
    }
    if (code === backslash) {
      cursor.at = at;
      const meaning = readEscape(cursor);
      if (meaning === undefined) return undefined;
      done += text.slice(start, at) + meaning;
      start = cursor.at;
      at = start;
    } else if (code >= 0x20) {
      at += 1;
    } else {
      return fail(cursor, 'syntax', Math.min(at, text.length));
    }
  }
}

/** -0 becomes 0, so that equal numbers are equal everywhere; what underflows to 0 is refused like what overflows. */
function readNumber(cursor: Cursor): number | undefined {
  const start = cursor.at;
  numberPattern.lastIndex = start;
  if (!numberPattern.test(cursor.text)) return fail(cursor, 'syntax', start);
  cursor.at = numberPattern.lastIndex;
  const text = cursor.text.slice(start, cursor.at);
  const value = Number(text);
  if (value === 0) return /^[-0.]*(?:[eE]|$)/.test(text) ? 0 : fail(cursor, 'number_out_of_range', start);
  if (Number.isSafeInteger(value)) return value;
  if (Number.isFinite(value) && !Number.isInteger(value)) return value;
  return fail(cursor, 'number_out_of_range', start);
}

function readWord(cursor: Cursor, word: string, value: Json): Json | undefined {
  if (!cursor.text.startsWith(word, cursor.at)) return fail(cursor, 'syntax', cursor.at);
  cursor.at += word.length;
  return value;
}

function isForbidden(key: string): boolean {
  if (key.length !== 9 && key.length !== 11) return false;
  return key === '__proto__' || key === 'prototype' || key === 'constructor';
}

/** `"key":` inside an object; the key is checked against those that stand already. */
function readKey(cursor: Cursor, members: JsonObject): string | undefined {
  const start = cursor.at;
  const key = readString(cursor);
  if (key === undefined) return undefined;
  if (isForbidden(key)) return fail(cursor, 'forbidden_key', start);
  if (key in members) return fail(cursor, 'duplicate_key', start);
  if (skipSpace(cursor) !== colon) return fail(cursor, 'syntax', cursor.at);
  cursor.at += 1;
  return key;
}

/** After a member or an element: true to go on, false at the closing character, undefined on a fault. */
function readSeparator(cursor: Cursor, closing: number): boolean | undefined {
  const code = skipSpace(cursor);
  if (code !== comma && code !== closing) return fail(cursor, 'syntax', cursor.at);
  cursor.at += 1;
  return code === comma;
}

function readObject(cursor: Cursor): JsonObject | undefined {
  const members: { [key: string]: Json } = Object.create(null);
  cursor.at += 1;
  if (skipSpace(cursor) === closeBrace) {
    cursor.at += 1;
    return Object.freeze(members);
  }
  for (;;) {
    if (skipSpace(cursor) !== quote) return fail(cursor, 'syntax', cursor.at);
    const key = readKey(cursor, members);
    if (key === undefined) return undefined;
    const value = readValue(cursor);
    if (value === undefined) return undefined;
    members[key] = value;
    const more = readSeparator(cursor, closeBrace);
    if (more === undefined) return undefined;
    if (!more) return Object.freeze(members);
  }
}

function readArray(cursor: Cursor): readonly Json[] | undefined {
  const elements: Json[] = [];
  cursor.at += 1;
  if (skipSpace(cursor) === closeBracket) {
    cursor.at += 1;
    return Object.freeze(elements);
  }
  for (;;) {
    const value = readValue(cursor);
    if (value === undefined) return undefined;
    elements.push(value);
    const more = readSeparator(cursor, closeBracket);
    if (more === undefined) return undefined;
    if (!more) return Object.freeze(elements);
  }
}

function readNested(cursor: Cursor, read: (cursor: Cursor) => Json | undefined): Json | undefined {
  if (cursor.depth === maxJsonDepth) return fail(cursor, 'too_deep', cursor.at);
  cursor.depth += 1;
  const value = read(cursor);
  cursor.depth -= 1;
  return value;
}

function readValue(cursor: Cursor): Json | undefined {
  switch (skipSpace(cursor)) {
    case quote:
      return readString(cursor);
    case openBrace:
      return readNested(cursor, readObject);
    case openBracket:
      return readNested(cursor, readArray);
    case 0x74:
      return readWord(cursor, 'true', true);
    case 0x66:
      return readWord(cursor, 'false', false);
    case 0x6e:
      return readWord(cursor, 'null', null);
    default:
      return readNumber(cursor);
  }
}

function firstLoneSurrogate(text: string): number {
  return text.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
}

function parseText(text: string): JsonResult {
  if (text.charCodeAt(0) === 0xfeff) return { ok: false, fault: 'byte_order_mark', at: 0 };
  if (!text.isWellFormed()) return { ok: false, fault: 'lone_surrogate', at: firstLoneSurrogate(text) };
  const cursor: Cursor = { text, at: 0, depth: 0, fault: undefined };
  const value = readValue(cursor);
  if (value === undefined) return { ok: false, fault: cursor.fault ?? 'syntax', at: cursor.at };
  skipSpace(cursor);
  if (cursor.at < text.length) return { ok: false, fault: 'trailing_data', at: cursor.at };
  return { ok: true, value };
}

/**
 * Parses one JSON text (or its UTF-8 bytes) strictly, in one pass that stops at the first fault: no duplicate
 * keys at any depth, no `__proto__`/`constructor`/`prototype`, depth <= {@link maxJsonDepth}, no lone
 * surrogates, no BOM, no trailing data, numbers finite and integers within +-(2^53 - 1). Never throws on input.
 */
export function parseJson(input: string | Uint8Array, limits: JsonLimits = headerJsonLimits): JsonResult {
  if (input.length > limits.maxLength) return { ok: false, fault: 'too_long', at: limits.maxLength };
  if (typeof input === 'string') return parseText(input);
  const text = decodeUtf8(input);
  return text === undefined ? { ok: false, fault: 'not_utf8', at: utf8FaultAt(input) } : parseText(text);
}

/** The fault as a sentence with its position, without anything of the input. */
export function describeJsonFault(failure: { readonly fault: JsonFault; readonly at: number }): string {
  return `JSON: ${jsonFaults[failure.fault]} (position ${failure.at})`;
}

/** True for a JSON object (neither null nor an array). */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
