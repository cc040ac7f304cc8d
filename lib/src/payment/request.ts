/**
 * What a payment is bound to: the http:1 digest of the request that will be executed (formats 10.1 and 12.3). The
 * same object serves as our own fingerprint and, under another domain, as the signed request commitment.
 */
import { canonicalJson } from '../crypto/jcs.ts';
import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';
import { encodeHex } from '../wire/hex.ts';
import type { JsonObject } from '../wire/v2.ts';
import { paymentSignatureHeader } from '../wire/v2.ts';
import type { World } from '../world.ts';
import { isBindableUrl } from './url.ts';

/** A request as it will be executed. */
export type BoundRequest = {
  /** As sent; the letter case counts. */
  readonly method: string;
  /** From {@link requestUrl}. */
  readonly url: string;
  /** After transfer decoding and before content decoding. */
  readonly body: Uint8Array;
  /** Every line of the request, in order, repeated names included. */
  readonly headerLines: Iterable<readonly [string, string]>;
  /** From {@link checkBoundHeaders}. */
  readonly boundHeaders: readonly string[];
};

/** The domain of our fingerprint. */
export const fingerprintDomain = 'counterfoil:request:http:1';
/** The domain of the signed commitment, profile http:1 of evm-request-commitment. */
export const commitmentDomain = 'x402:exact:evm:request-commitment:http:1';
/** What changes the meaning of any body. */
export const defaultBoundHeaders: readonly string[] = Object.freeze(['content-encoding', 'content-type']);

/** Octets of a commitment's salt. */
export const saltLength = 32;

/** Proxies rewrite these, so two honest ends would see two values (formats 12.3). */
const unbindable = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'date',
  'forwarded',
  'host',
  'te',
  'user-agent',
  'via',
]);
/** More would be a mistake: each one is a way for an honest buyer to miss. */
const maxBoundHeaders = 32;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerText = /^[ -~]*$/;
const noncePrefix: Uint8Array = new TextEncoder().encode('x402:exact:evm:request-nonce:v1');
const encoder = new TextEncoder();

/** Checks the header names that a route binds and puts them in order; a name that cannot be bound is a TypeError. */
export function checkBoundHeaders(names: readonly string[]): readonly string[] {
  const ordered = [...new Set(names)].sort();
  for (const name of ordered) {
    if (unbindable.has(name) || name.startsWith('x-forwarded-')) {
      throw new TypeError(`The header "${name}" cannot be bound because proxies rewrite it.`);
    }
  }
  if (!areBindable(ordered)) {
    throw new TypeError('Bound headers are lower-case names, at most 32, and never payment-signature.');
  }
  return Object.freeze(ordered);
}

/** The digest of a request under a domain, 32 octets; a request that has no http:1 form is refused. */
export function requestDigest(
  request: BoundRequest,
  domain: string,
  sha256: World['sha256'],
): Outcome<Uint8Array> {
  const binding = requestBinding(request, domain, sha256);
  return binding.ok ? succeed(bindingDigest(binding.value, sha256)) : binding;
}

/** The binding object of a request, members and spellings as formats 10.1 gives them. */
export function requestBinding(
  request: BoundRequest,
  domain: string,
  sha256: World['sha256'],
): Outcome<JsonObject> {
  const { method, url, boundHeaders } = request;
  if (!token.test(method)) return refuse('request_malformed', { fields: ['method'] });
  if (!isBindableUrl(url)) return refuse('request_malformed', { fields: ['url'] });
  if (!areBindable(boundHeaders)) return refuse('request_malformed', { fields: ['boundHeaders'] });
  const values = boundValues(request);
  const headers: JsonObject[] = [];
  for (const name of boundHeaders) {
    const value = values.get(name);
    if (value !== undefined && !headerText.test(value))
      return refuse('request_malformed', { fields: [name] });
    headers.push({ name, valueHash: hex(sha256(valueOctets(value))) });
  }
  return succeed({ bodyHash: hex(sha256(request.body)), domain, headers, method, url });
}

/** SHA-256 of the canonical text of a binding object (http:1 and mcp:1 alike). */
export function bindingDigest(binding: JsonObject, sha256: World['sha256']): Uint8Array {
  const text = canonicalJson(binding);
  if (text === undefined) throw new TypeError('A binding object is plain JSON.');
  return sha256(encoder.encode(text));
}

/** The nonce that commits an authorization to a request: digest and salt have 32 octets each, and so has it. */
export function committedNonce(
  committed: { readonly requestDigest: Uint8Array; readonly salt: Uint8Array },
  sha256: World['sha256'],
): Uint8Array {
  const { requestDigest: digest, salt } = committed;
  if (digest.length !== 32 || salt.length !== saltLength) {
    throw new TypeError('A request digest and a salt have 32 octets each.');
  }
  const preimage = new Uint8Array(noncePrefix.length + digest.length + salt.length);
  preimage.set(noncePrefix, 0);
  preimage.set(digest, noncePrefix.length);
  preimage.set(salt, noncePrefix.length + digest.length);
  return sha256(preimage);
}

function areBindable(names: readonly string[]): boolean {
  if (names.length > maxBoundHeaders) return false;
  let previous = '';
  for (const name of names) {
    if (!token.test(name) || name !== name.toLowerCase() || name <= previous) return false;
    if (name === paymentSignatureHeader) return false;
    previous = name;
  }
  return true;
}

/** The lines of one name are one value, joined as HTTP joins them. */
function boundValues(request: BoundRequest): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  if (request.boundHeaders.length === 0) return values;
  for (const [header, line] of request.headerLines) {
    const name = header.toLowerCase();
    if (!request.boundHeaders.includes(name)) continue;
    const value = withoutBlanks(line);
    const earlier = values.get(name);
    values.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return values;
}

/** A value without the optional white space around it (RFC 9110, section 5.6.3); linear, since strangers write it. */
function withoutBlanks(line: string): string {
  let [start, end] = [0, line.length];
  while (start < end && isBlank(line, start)) start += 1;
  while (end > start && isBlank(line, end - 1)) end -= 1;
  return line.slice(start, end);
}

function isBlank(line: string, at: number): boolean {
  return line[at] === ' ' || line[at] === '\t';
}

/** A header that is absent and one that is empty are told apart by the first octet. */
function valueOctets(value: string | undefined): Uint8Array {
  return value === undefined ? Uint8Array.of(0) : encoder.encode(`\u0001${value}`);
}

function hex(bytes: Uint8Array): string {
  return encodeHex(bytes).slice(2);
}
