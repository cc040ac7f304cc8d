/**
 * Differential test against the reference package's codec: what one side writes the other reads as the same
 * message, and nothing that both read means two things.
 */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import fc from 'fast-check';
import type { Outcome } from '../problem.ts';
import { describeHeader } from './describe.ts';
import { sealHeader } from './header.ts';
import { parseJson } from './json.ts';
import {
  decodePaymentRequired,
  encodePaymentRequired,
  readPaymentRequired,
  writePaymentRequired,
} from './required.ts';
import {
  decodePaymentResponse,
  encodePaymentResponse,
  readSettlementResponse,
  writeSettlementResponse,
} from './response.ts';
import {
  decodePaymentSignature,
  encodePaymentSignature,
  readPaymentPayload,
  writePaymentPayload,
} from './signature.ts';
import type { Json, JsonObject } from './v2.ts';

/** One of the three headers: our codec, theirs, and messages in JSON form. */
type Kind = {
  readonly name: string;
  readonly messages: fc.Arbitrary<JsonObject>;
  readonly decode: (header: string) => Outcome<object>;
  readonly read: (json: Json) => Outcome<object>;
  /** Reads and writes again: the JSON that our codec makes of a header. */
  readonly rewrite: (header: string) => { readonly json: JsonObject; readonly header: string } | undefined;
  readonly theirDecode: (header: string) => unknown;
  readonly theirEncode: (json: JsonObject) => string;
};

const label = fc.string({ unit: fc.constantFrom(...'abc XYZ-'), minLength: 1, maxLength: 32 });
const identifier = fc.string({ unit: fc.constantFrom(...'0xaBf19:.-'), minLength: 1, maxLength: 60 });
const prose = fc.string({ unit: 'grapheme', maxLength: 30 });
const atomic = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
const network = fc.constantFrom(
  'eip155:8453',
  'eip155:84532',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'ach:us',
);
const safeNumber = fc.oneof(
  fc.integer(),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value || 0),
);
const key = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '"', '\\', '1', '☕'), maxLength: 3 });
const leaf = fc.oneof(prose, safeNumber, fc.boolean(), fc.constant(null));

const { tree: anyJson } = fc.letrec<{ readonly tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const anyObject: fc.Arbitrary<JsonObject> = fc.dictionary(key, anyJson, {
  maxKeys: 4,
  noNullPrototype: true,
});

const resource = fc.record(
  {
    url: fc.webUrl({ withQueryParameters: true }),
    description: prose,
    mimeType: fc.constant('application/json'),
    serviceName: label,
    tags: fc.array(label, { maxLength: 5 }),
    iconUrl: fc.webUrl(),
  },
  { requiredKeys: ['url'], noNullPrototype: true },
);
const requirements = fc.record(
  {
    scheme: fc.constantFrom('exact', 'upto', 'auth-capture'),
    network,
    asset: identifier,
    amount: atomic,
    payTo: identifier,
    maxTimeoutSeconds: fc.integer({ min: 1, max: 86_400 }),
    extra: anyObject,
  },
  { noNullPrototype: true },
);

const kinds: readonly Kind[] = [
  {
    name: 'PAYMENT-REQUIRED',
    messages: fc.record(
      {
        x402Version: fc.constant(2),
        error: prose,
        resource,
        accepts: fc.array(requirements, { maxLength: 3 }),
        extensions: anyObject,
      },
      { requiredKeys: ['x402Version', 'resource', 'accepts'], noNullPrototype: true },
    ),
    decode: decodePaymentRequired,
    read: readPaymentRequired,
    rewrite: (header) => {
      const outcome = decodePaymentRequired(header);
      if (!outcome.ok) return undefined;
      return { json: writePaymentRequired(outcome.value), header: encodePaymentRequired(outcome.value) };
    },
    theirDecode: decodePaymentRequiredHeader,
    theirEncode: (json) => encodePaymentRequiredHeader(json as never),
  },
  {
    name: 'PAYMENT-SIGNATURE',
    messages: fc.record(
      {
        x402Version: fc.constant(2),
        resource,
        accepted: requirements,
        payload: anyObject,
        extensions: anyObject,
      },
      { requiredKeys: ['x402Version', 'accepted', 'payload'], noNullPrototype: true },
    ),
    decode: decodePaymentSignature,
    read: readPaymentPayload,
    rewrite: (header) => {
      const outcome = decodePaymentSignature(header);
      if (!outcome.ok) return undefined;
      return { json: writePaymentPayload(outcome.value), header: encodePaymentSignature(outcome.value) };
    },
    theirDecode: decodePaymentSignatureHeader,
    theirEncode: (json) => encodePaymentSignatureHeader(json as never),
  },
  {
    name: 'PAYMENT-RESPONSE',
    messages: fc.record(
      {
        success: fc.boolean(),
        errorReason: prose,
        payer: identifier,
        transaction: fc.oneof(fc.constant(''), identifier),
        network,
        amount: atomic,
        extensions: anyObject,
        extra: anyObject,
      },
      { requiredKeys: ['success', 'transaction', 'network'], noNullPrototype: true },
    ),
    decode: decodePaymentResponse,
    read: readSettlementResponse,
    rewrite: (header) => {
      const outcome = decodePaymentResponse(header);
      if (!outcome.ok) return undefined;
      return { json: writeSettlementResponse(outcome.value), header: encodePaymentResponse(outcome.value) };
    },
    theirDecode: decodePaymentResponseHeader,
    theirEncode: (json) => encodePaymentResponseHeader(json as never),
  },
];

/** A value as plain JSON: amounts as strings, objects with a prototype, members in order of their names. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, plain(member)]),
  );
}

function text(header: string): string {
  return Buffer.from(header, 'base64').toString();
}

/** Where both sides read a header, our reading of their value is our value. */
function agree(kind: Kind, header: string): void {
  const ours = kind.decode(header);
  if (!ours.ok) return;
  const standard = header.replaceAll('-', '+').replaceAll('_', '/');
  const theirs = kind.theirDecode(standard);
  const json = parseJson(JSON.stringify(theirs), { maxLength: 1e6 });
  assert.ok(json.ok, `${kind.name}: they read what we would not write`);
  const again = kind.read(json.value);
  assert.ok(again.ok);
  assert.deepEqual(plain(ours.value), plain(again.value));
}

for (const kind of kinds) {
  test(`${kind.name}: what we write, the reference codec reads as the same message`, () => {
    fc.assert(
      fc.property(kind.messages, (message) => {
        const rewritten = kind.rewrite(sealHeader(message));
        if (rewritten === undefined) return text(sealHeader(message)).length > 9000;
        assert.match(rewritten.header, /^[A-Za-z0-9+/]+={0,2}$/);
        assert.deepEqual(plain(kind.theirDecode(rewritten.header)), plain(message));
        assert.deepEqual(plain(rewritten.json), plain(message));
        return true;
      }),
      { numRuns: 400 },
    );
  });

  test(`${kind.name}: what the reference codec writes, we read as the same message`, () => {
    fc.assert(
      fc.property(kind.messages, (message) => {
        const header = kind.theirEncode(message);
        const rewritten = kind.rewrite(header);
        if (rewritten === undefined) return header.length > 12_288;
        assert.deepEqual(plain(rewritten.json), plain(message));
        assert.equal(kind.rewrite(rewritten.header)?.header, rewritten.header);
        return true;
      }),
      { numRuns: 400 },
    );
  });

  test(`${kind.name}: no truncated header is read as another message`, () => {
    fc.assert(
      fc.property(kind.messages, (message) => {
        const header = kind.theirEncode(message);
        const whole = kind.decode(header);
        if (!whole.ok) return;
        const padding = header.length - header.replace(/=+$/, '').length;
        for (let length = 0; length < header.length; length += 1) {
          const cut = kind.decode(header.slice(0, length));
          if (cut.ok) {
            assert.equal(length, header.length - padding);
            assert.deepEqual(plain(cut.value), plain(whole.value));
          }
        }
      }),
      { numRuns: 10 },
    );
  });

  test(`P02: ${kind.name}: a member that is sent twice is refused wherever it stands`, () => {
    fc.assert(
      fc.property(kind.messages, fc.nat(), (message, pick) => {
        const json = JSON.stringify(message);
        const starts = [...json.matchAll(/[{,]("(?:[^"\\]|\\.)*":)/g)];
        const match = starts[pick % starts.length];
        assert.ok(match);
        const at = match.index + 1;
        const doubled = `${json.slice(0, at)}${match[1] ?? ''}0,${json.slice(at)}`;
        const parsed = parseJson(doubled, { maxLength: 1e6 });
        // Inside a string the insertion makes no member, and then it is no JSON.
        assert.ok(!parsed.ok);
        assert.equal(kind.decode(Buffer.from(doubled).toString('base64')).ok, false);
      }),
      { numRuns: 300 },
    );
  });

  test(`${kind.name}: one flipped bit, in the header or in what it carries, never means two things`, () => {
    fc.assert(
      fc.property(kind.messages, fc.nat(), fc.nat(7), (message, place, bit) => {
        const header = kind.theirEncode(message);
        const bytes = Buffer.from(header, 'base64');
        const inner = Buffer.from(bytes);
        const at = place % bytes.length;
        inner[at] = (inner[at] ?? 0) ^ (1 << bit);
        agree(kind, inner.toString('base64'));
        const spot = place % header.length;
        const flipped = String.fromCharCode(header.charCodeAt(spot) ^ (1 << bit));
        const outer = `${header.slice(0, spot)}${flipped}${header.slice(spot + 1)}`;
        agree(kind, outer);
      }),
      { numRuns: 800 },
    );
  });

  test(`${kind.name}: members in another order are the same message`, () => {
    fc.assert(
      fc.property(kind.messages, (message) => {
        const reversed = Object.fromEntries(Object.entries(message).reverse());
        const first = kind.decode(kind.theirEncode(message));
        const second = kind.decode(kind.theirEncode(reversed));
        assert.deepEqual(plain(second), plain(first));
      }),
      { numRuns: 100 },
    );
  });
}

/** Replaces one member somewhere in a message by a value of any type. */
function bend(message: JsonObject, path: readonly number[], value: Json): JsonObject {
  const [step = 0, ...rest] = path;
  const names = Object.keys(message);
  const name = names[step % Math.max(names.length, 1)] ?? 'accepts';
  const inner = message[name];
  const deeper = rest.length > 0 && typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return { ...message, [name]: deeper ? bend(inner as JsonObject, rest, value) : value };
}

const codes = new Set(['payment_malformed', 'payment_version_unsupported', 'header_too_large']);

test('P07: ten thousand bent messages are read or refused, and none raises an exception', () => {
  const odd = fc.constantFrom<Json>(null, [], {}, '', 0, true, 'constructor', [[[[]]]], { toString: 1 });
  const values = fc.oneof(anyJson, odd);
  const paths = fc.array(fc.nat(9), { minLength: 1, maxLength: 3 });
  let refused = 0;
  for (const kind of kinds) {
    const check = (message: JsonObject, path: readonly number[], value: Json): void => {
      const header = sealHeader(bend(message, path, value));
      const outcome = kind.decode(header);
      assert.ok(Array.isArray(describeHeader(header).problems));
      if (outcome.ok) return;
      refused += 1;
      assert.ok(codes.has(outcome.refusal.code), outcome.refusal.code);
      assert.ok((outcome.refusal.detail ?? '').length < 600);
    };
    const messages = fc.constantFrom(...fc.sample(kind.messages, { numRuns: 200, seed: 402 }));
    fc.assert(fc.property(messages, paths, values, check), { numRuns: 3400 });
  }
  assert.ok(refused > 2000, `only ${refused} of the messages were broken`);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});
