/**
 * Says of any header text what it is, for people: message, dialect, members, problems, and what to change.
 * It never throws, and it prints no signature in full, because a payment's signature is what makes its bytes
 * spendable.
 */

import { base64Faults, decodeBase64 } from './base64.ts';
import type { Dialect, MessageKind, Recognition } from './dialect.ts';
import { dialectNames, recognise, recogniseHeaderName } from './dialect.ts';
import { displayText } from './display.ts';
import { maxHeaderLength } from './header.ts';
import { describeJsonFault, isJsonObject, parseJson } from './json.ts';
import { inspectPaymentRequired } from './required.ts';
import { inspectSettlementResponse } from './response.ts';
import { inspect } from './shape.ts';
import { inspectPaymentPayload } from './signature.ts';
import type { Json, JsonObject } from './v2.ts';

/** One leaf of the message; both texts are safe to print. */
export type DescribedField = { readonly path: string; readonly value: string };

/** What a header text is. `encoding` is 'none' where the text could not be opened. */
export type HeaderDescription = {
  readonly name: string | undefined;
  readonly kind: MessageKind;
  readonly dialect: Dialect;
  readonly encoding: 'base64' | 'json' | 'none';
  readonly length: number;
  readonly fields: readonly DescribedField[];
  readonly problems: readonly string[];
  readonly advice: readonly string[];
};

/** A version 1 body with a JSON Schema in it is some 10 KiB; more is no header and no 402. */
const maxDescribedLength = 64 * 1024;

/** More rows than this help nobody to read a message. */
const maxFields = 200;

/** Names that articles give as headers of version 1 and that no published version has. */
const inventedHeader = /^x-payment-(?:address|amount|token|network)$/i;

/** Members that make a payment spendable, wherever they stand in `payload` or `authorization`. */
const secretMember = /(?:^|\.)(?:signature|transaction|r|s)$/i;

type Opened = {
  readonly encoding: 'base64' | 'json' | 'none';
  readonly json?: Json;
  readonly problems: readonly string[];
};

function openText(text: string): Opened {
  if (text === '') return { encoding: 'none', problems: ['The text is empty.'] };
  if (text.length > maxDescribedLength) {
    return { encoding: 'none', problems: [`The text is longer than ${maxDescribedLength} characters.`] };
  }
  if (/^[{["]/.test(text)) return openJson(text, 'json');
  const bytes = decodeBase64(text);
  if (bytes.ok) return openJson(bytes.value, 'base64');
  const comma = text.includes(',') ? '; two headers may have been joined' : '';
  return {
    encoding: 'none',
    problems: [`base64: ${base64Faults[bytes.fault]} (position ${bytes.at})${comma}`],
  };
}

function openJson(input: string | Uint8Array, encoding: 'base64' | 'json'): Opened {
  const json = parseJson(input, { maxLength: maxDescribedLength });
  if (!json.ok) return { encoding, problems: [describeJsonFault(json)] };
  return { encoding, json: json.value, problems: [] };
}

function isSecret(path: string): boolean {
  return /^(?:payload|authorization)\./.test(path) && secretMember.test(path);
}

function displayValue(path: string, value: string): string {
  if (!isSecret(path) || value.length < 24) return displayText(value);
  return displayText(`${value.slice(0, 10)}…${value.slice(-4)} (${value.length} characters)`);
}

function collect(fields: DescribedField[], path: string, value: Json): void {
  if (fields.length >= maxFields) return;
  if (typeof value === 'string') {
    fields.push({ path, value: displayValue(path, value) });
  } else if (typeof value !== 'object' || value === null) {
    fields.push({ path, value: String(value) });
  } else if (isJsonObject(value)) {
    collectMembers(fields, path, value);
  } else {
    if (value.length === 0) fields.push({ path, value: '[]' });
    value.forEach((entry, index) => {
      collect(fields, `${path}[${index}]`, entry);
    });
  }
}

function collectMembers(fields: DescribedField[], path: string, object: JsonObject): void {
  const keys = Object.keys(object);
  if (keys.length === 0 && path !== '') fields.push({ path, value: '{}' });
  for (const key of keys) {
    const name = displayText(key, 64);
    collect(fields, path === '' ? name : `${path}.${name}`, object[key] ?? null);
  }
}

function shapeFindings(json: Json, kind: MessageKind): readonly string[] {
  const shape = inspect(json);
  switch (kind) {
    case 'required':
      inspectPaymentRequired(shape);
      return shape.findings;
    case 'signature':
      inspectPaymentPayload(shape);
      return shape.findings;
    case 'response':
      inspectSettlementResponse(shape);
      return shape.findings;
    case 'unknown':
      return [...shape.findings, 'Nothing in it belongs to an x402 message.'];
    default:
      return kind satisfies never;
  }
}

function messageProblems(json: Json, seen: Recognition): readonly string[] {
  if (seen.dialect === 'v1' || seen.dialect === 'm2mcent') return [`This is ${dialectNames[seen.dialect]}.`];
  return shapeFindings(json, seen.kind);
}

function nameProblems(name: string | undefined, seen: Recognition): readonly string[] {
  if (name === undefined) return [];
  if (inventedHeader.test(name)) return ['No published version of x402 has a header of this name.'];
  const expected = recogniseHeaderName(name);
  if (expected === undefined) return ['x402 has no header of this name.'];
  if (seen.kind !== 'unknown' && seen.kind !== expected.kind) {
    return [`A header of this name carries another message (${expected.kind}) than this one (${seen.kind}).`];
  }
  const older = expected.dialect === 'v1' && seen.dialect === 'v2';
  return older ? ['Version 2 does not travel in a header of version 1.'] : [];
}

/** Splits `NAME: value` as a header is pasted; base64 and JSON texts do not look like it. */
function splitName(text: string): { readonly name: string | undefined; readonly value: string } {
  const parts = /^([A-Za-z][A-Za-z0-9-]{0,63}):(.*)$/s.exec(text.trim());
  return { name: parts?.[1], value: (parts?.[2] ?? text).trim() };
}

/**
 * Describes a header's value, a whole header line or a 402's JSON body. `name` is the header's name where the
 * caller knows it; a name in the text stands before it. Never throws on input.
 */
export function describeHeader(text: string, more: { readonly name?: string } = {}): HeaderDescription {
  for (const key of Object.keys(more)) if (key !== 'name') throw new TypeError(`unknown option ${key}`);
  const split = splitName(text);
  const name = split.name ?? more.name;
  const opened = openText(split.value);
  const json = opened.json ?? null;
  const seen = recognise(json, name);
  const fields: DescribedField[] = [];
  if (opened.json !== undefined) collect(fields, isJsonObject(json) ? '' : 'message', json);
  const tooLong = opened.encoding === 'base64' && split.value.length > maxHeaderLength;
  return {
    name: name === undefined ? undefined : displayText(name, 64),
    kind: seen.kind,
    dialect: seen.dialect,
    encoding: opened.encoding,
    length: split.value.length,
    fields,
    problems: [
      ...opened.problems,
      ...(tooLong
        ? [`The header is longer than ${maxHeaderLength} characters, the most that is read here.`]
        : []),
      ...nameProblems(name, seen),
      ...(opened.json === undefined ? [] : messageProblems(json, seen)),
    ],
    advice: seen.advice,
  };
}
