/**
 * The envelope of the three headers: base64 of the UTF-8 of a JSON object (HTTP transport v2; formats section
 * 12.1). Opening one refuses what is too large, and names the first fault without repeating what was sent.
 */

import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';
import { base64Faults, decodeBase64, encodeBase64Text } from './base64.ts';
import { describeJsonFault, isJsonObject, parseJson } from './json.ts';
import type { JsonObject } from './v2.ts';

/** 12 KiB of header text: Node reads 16 KiB for all fields together, and stock payments are about 1 KiB. */
export const maxHeaderLength: number = 12 * 1024;

function malformed(detail: string): Outcome<never> {
  return refuse('payment_malformed', { detail });
}

/** Opens a header's value to its JSON object, or says `header_too_large` or `payment_malformed` and why. */
export function openHeader(value: string): Outcome<JsonObject> {
  if (value.length > maxHeaderLength) {
    return refuse('header_too_large', { detail: `header: longer than ${maxHeaderLength} characters` });
  }
  if (value === '') return malformed('header: empty');
  const bytes = decodeBase64(value);
  if (!bytes.ok) {
    const two =
      bytes.fault === 'character' && value.includes(',') ? '; two headers may have been joined' : '';
    return malformed(`base64: ${base64Faults[bytes.fault]} (position ${bytes.at})${two}`);
  }
  const json = parseJson(bytes.value);
  if (!json.ok) return malformed(describeJsonFault(json));
  return isJsonObject(json.value) ? succeed(json.value) : malformed('message: expected an object');
}

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/**
 * Seals a JSON object as a header's value, which is ASCII whatever its texts hold (bug report 002). A lone
 * surrogate in a seller's description becomes U+FFFD, since no strict reader would accept it.
 */
export function sealHeader(message: object): string {
  return encodeBase64Text(headerText(message));
}

/** The JSON that {@link sealHeader} encodes. */
export function headerText(message: object): string {
  const text = JSON.stringify(message);
  return text.includes('\\ud') ? JSON.stringify(message, wellFormed) : text;
}
