import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { canonicalJson } from '../crypto/jcs.ts';
import type { JsonObject } from '../wire/v2.ts';
import type { BoundRequest } from './request.ts';
import {
  bindingDigest,
  checkBoundHeaders,
  commitmentDomain,
  committedNonce,
  defaultBoundHeaders,
  fingerprintDomain,
  requestBinding,
  requestDigest,
} from './request.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());
const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function readVectors(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), 'utf8'));
}

type HttpVector = {
  readonly id: string;
  readonly input: {
    readonly method: string;
    readonly url: string;
    readonly body_hex: string;
    readonly bound_headers: readonly string[];
    readonly header_lines: readonly (readonly [string, string])[];
  };
  readonly expect: { readonly request_hash?: string; readonly canonical?: string; readonly error?: string };
};
const http = readVectors('http_request_binding_http1.json') as {
  readonly domain: string;
  readonly http_binding: readonly HttpVector[];
  readonly mcp_binding: readonly {
    readonly binding: JsonObject;
    readonly canonical: string;
    readonly request_hash: string;
  }[];
};
const commitments = readVectors('evm_request_commitment.json') as {
  readonly vectors: readonly {
    readonly request: {
      readonly method: string;
      readonly url: string;
      readonly bodyHex: string;
      readonly boundHeaders: readonly (readonly [string, string])[];
    };
    readonly jcs: string;
    readonly requestDigest: string;
    readonly salt: string;
    readonly nonce: string;
  }[];
};

const sample: BoundRequest = {
  method: 'POST',
  url: 'https://api.example.com/chat?x=1',
  body: new TextEncoder().encode('{"model":"small-a"}'),
  headerLines: [['Content-Type', 'application/json']],
  boundHeaders: defaultBoundHeaders,
};

function digestOf(change: Partial<BoundRequest>, domain = fingerprintDomain): string {
  const outcome = requestDigest({ ...sample, ...change }, domain, sha256);
  assert.ok(outcome.ok);
  return hex(outcome.value);
}

test('the published http:1 vectors: canonical text and digest, or a refusal', () => {
  assert.equal(http.http_binding.length, 31);
  for (const { id, input, expect } of http.http_binding) {
    const request = {
      method: input.method,
      url: input.url,
      body: unhex(input.body_hex),
      headerLines: input.header_lines,
      boundHeaders: input.bound_headers,
    };
    const binding = requestBinding(request, http.domain, sha256);
    const digest = requestDigest(request, http.domain, sha256);
    if (expect.error !== undefined) {
      assert.equal(binding.ok, false, id);
      assert.equal(digest.ok ? undefined : digest.refusal.code, 'request_malformed', id);
      continue;
    }
    assert.ok(binding.ok && digest.ok, id);
    assert.equal(canonicalJson(binding.value), expect.canonical, id);
    assert.equal(hex(digest.value), expect.request_hash, id);
  }
});

test('the published mcp:1 vectors hash as binding objects', () => {
  assert.equal(http.mcp_binding.length, 4);
  for (const vector of http.mcp_binding) {
    assert.equal(canonicalJson(vector.binding), vector.canonical);
    assert.equal(hex(bindingDigest(vector.binding, sha256)), vector.request_hash);
  }
});

test('the published vectors of the EVM request commitment: text, digest and committed nonce', () => {
  assert.equal(commitments.vectors.length, 2);
  for (const { request, jcs, requestDigest: expected, salt, nonce } of commitments.vectors) {
    const bound = {
      method: request.method,
      url: request.url,
      body: unhex(request.bodyHex),
      headerLines: request.boundHeaders,
      boundHeaders: request.boundHeaders.map(([name]) => name),
    };
    const binding = requestBinding(bound, commitmentDomain, sha256);
    assert.ok(binding.ok);
    assert.equal(canonicalJson(binding.value), jcs);
    const digest = requestDigest(bound, commitmentDomain, sha256);
    assert.ok(digest.ok);
    assert.equal(hex(digest.value), expected);
    assert.equal(hex(committedNonce({ requestDigest: digest.value, salt: unhex(salt) }, sha256)), nonce);
  }
});

test('B02, B03, B04, B05: path, query, method, body and bound headers each change the fingerprint', () => {
  const digests = [
    digestOf({}),
    digestOf({ url: 'https://api.example.com/chat?x=2' }),
    digestOf({ url: 'https://api.example.com/chat/?x=1' }),
    digestOf({ url: 'https://other.example.com/chat?x=1' }),
    digestOf({ method: 'PUT' }),
    digestOf({ body: new TextEncoder().encode('{"model":"small-b"}') }),
    digestOf({ body: new Uint8Array() }),
    digestOf({ headerLines: [] }),
    digestOf({ headerLines: [['content-type', '']] }),
    digestOf({ headerLines: [['content-type', 'text/plain']] }),
    digestOf({ headerLines: [...sample.headerLines, ['Content-Encoding', 'gzip']] }),
    digestOf({}, commitmentDomain),
  ];
  assert.equal(new Set(digests).size, digests.length);
});

test('a header that is not bound changes nothing, and the letter case of names does not count', () => {
  assert.equal(
    digestOf({ headerLines: [...sample.headerLines, ['user-agent', 'x'], ['cookie', '\u00e9']] }),
    digestOf({}),
  );
  assert.equal(digestOf({ headerLines: [['CONTENT-TYPE', '\t application/json ']] }), digestOf({}));
});

test('a bound value with a control or non-ASCII character is refused by the name of its header', () => {
  for (const value of ['a\u0000b', 'a\tb', 'a\nb', 'a\u007fb', 'caf\u00e9']) {
    const outcome = requestDigest(
      { ...sample, headerLines: [['content-type', value]] },
      fingerprintDomain,
      sha256,
    );
    assert.deepEqual(outcome.ok ? undefined : outcome.refusal, {
      code: 'request_malformed',
      fields: ['content-type'],
    });
  }
});

test('a route’s bound headers are put in order at the start, and what cannot be bound stops it', () => {
  assert.deepEqual(checkBoundHeaders([]), []);
  assert.deepEqual(checkBoundHeaders(['content-type', 'accept', 'content-type']), ['accept', 'content-type']);
  assert.deepEqual(checkBoundHeaders(defaultBoundHeaders), defaultBoundHeaders);
  for (const name of [
    'host',
    'via',
    'forwarded',
    'x-forwarded-for',
    'x-forwarded-host',
    'accept-encoding',
    'user-agent',
    'content-length',
    'connection',
    'te',
    'date',
  ]) {
    assert.throws(() => checkBoundHeaders([name]), { name: 'TypeError', message: /proxies rewrite/ });
  }
  for (const name of ['payment-signature', 'Content-Type', 'a b', '', 'a:b']) {
    assert.throws(() => checkBoundHeaders([name]), { name: 'TypeError', message: /Bound headers/ });
  }
  assert.throws(() => checkBoundHeaders(Array.from({ length: 33 }, (_, at) => `x-${at}`)), TypeError);
});

test('a committed nonce needs a digest and a salt of 32 octets', () => {
  const full = new Uint8Array(32);
  assert.equal(committedNonce({ requestDigest: full, salt: full }, sha256).length, 32);
  assert.throws(() => committedNonce({ requestDigest: full, salt: full.subarray(1) }, sha256), TypeError);
  assert.throws(() => committedNonce({ requestDigest: full.subarray(1), salt: full }, sha256), TypeError);
});
