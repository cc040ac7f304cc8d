import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createDigestSigner } from '../crypto/secp256k1.ts';
import { buildRequirements, defineTerms } from '../terms/requirements.ts';
import type { JsonObject, PaymentRequired } from '../wire/v2.ts';
import {
  commitmentExtension,
  commitsTo,
  declareCommitment,
  readCommitment,
  signCommitted,
} from './commitment.ts';
import { checkBoundHeaders, commitmentDomain, defaultBoundHeaders, requestDigest } from './request.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());
const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

type Vector = {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly bodyHex: string;
    readonly boundHeaders: readonly (readonly [string, string])[];
  };
  readonly requestDigest: string;
  readonly salt: string;
  readonly eip3009Nonce: string;
};
const { vectors } = JSON.parse(
  readFileSync(new URL('../../../vectors/evm_request_commitment.json', import.meta.url), 'utf8'),
) as { readonly vectors: readonly Vector[] };

const [requirement] = buildRequirements(
  '$0.01',
  defineTerms({
    accepts: [{ network: 'eip155:84532', payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' }],
  }),
);
assert.ok(requirement);
const signer = createDigestSigner(new Uint8Array(32).fill(7));
const resource = { url: 'https://api.example.com/search' };

function required(extensions?: JsonObject): PaymentRequired {
  return {
    x402Version: 2,
    resource,
    accepts: requirement === undefined ? [] : [requirement],
    ...(extensions === undefined ? {} : { extensions }),
  };
}

function sign(asked: PaymentRequired, request: Vector['request'], salt: Uint8Array) {
  assert.ok(requirement);
  return signCommitted({
    requirement,
    signer,
    nowMs: 1_780_000_000_000,
    random: () => salt,
    sha256,
    required: asked,
    request: {
      method: request.method,
      url: request.url,
      headers: request.boundHeaders,
      body: unhex(request.bodyHex),
    },
  });
}

for (const [at, vector] of vectors.entries()) {
  const boundHeaders = checkBoundHeaders(vector.request.boundHeaders.map(([name]) => name));
  const digest = unhex(vector.requestDigest);
  test(`B01: vector ${at + 1}: the client's nonce is the published one, and the server finds it again`, async () => {
    const declared = declareCommitment({ required: true, boundHeaders, requestDigest: digest });
    const asked = required({ [commitmentExtension]: declared, other: { info: { kept: true } } });
    const payment = await sign(asked, vector.request, unhex(vector.salt));
    assert.ok(payment.ok);
    const authorization = payment.value.payload.authorization as JsonObject;
    assert.equal(authorization.nonce, vector.eip3009Nonce);
    assert.deepEqual(payment.value.resource, resource);
    assert.deepEqual(payment.value.extensions?.other, { info: { kept: true } });
    const claim = readCommitment(payment.value.extensions);
    assert.ok(claim.ok && claim.value.kind === 'salted');
    assert.deepEqual(claim.value.requestDigest, digest);
    assert.ok(commitsTo(vector.eip3009Nonce, { requestDigest: digest, salt: claim.value.salt }, sha256));
    const other = Uint8Array.from(digest, (octet, index) => (index === 0 ? octet ^ 1 : octet));
    assert.ok(!commitsTo(vector.eip3009Nonce, { requestDigest: other, salt: claim.value.salt }, sha256));
  });
}

test('a buyer signs nothing where the 402 advertises the digest of another request', async () => {
  const [first, second] = vectors;
  assert.ok(first && second);
  const declared = declareCommitment({
    required: false,
    boundHeaders: [],
    requestDigest: unhex(second.requestDigest),
  });
  const payment = await sign(
    required({ [commitmentExtension]: declared }),
    first.request,
    new Uint8Array(32),
  );
  assert.ok(!payment.ok);
  assert.equal(payment.refusal.code, 'request_commitment_mismatch');
});

test('a buyer signs nothing where the 402 declares no commitment, or one that cannot be followed', async () => {
  const [first] = vectors;
  assert.ok(first);
  const info = { required: true, profile: 'http:1', bindingParams: { headers: [] } };
  const cases: readonly [PaymentRequired, string][] = [
    [required(), 'request_commitment_missing'],
    [required({}), 'request_commitment_missing'],
    [required({ [commitmentExtension]: true }), 'request_commitment_missing'],
    [required({ [commitmentExtension]: {} }), 'request_commitment_malformed'],
    [
      required({ [commitmentExtension]: { info: { ...info, profile: 'http:2' } } }),
      'request_commitment_malformed',
    ],
    [
      required({ [commitmentExtension]: { info: { ...info, bindingParams: { headers: [7] } } } }),
      'request_commitment_malformed',
    ],
    [
      required({ [commitmentExtension]: { info: { ...info, bindingParams: {} } } }),
      'request_commitment_malformed',
    ],
  ];
  for (const [asked, code] of cases) {
    const payment = await sign(asked, first.request, new Uint8Array(32));
    assert.equal(payment.ok ? 'signed' : payment.refusal.code, code);
  }
});

test('an echo without a salt commits to nothing, and what is no salt is malformed', () => {
  const salt = 'ab'.repeat(32);
  const read = (info: unknown): string => {
    const claim = readCommitment({ [commitmentExtension]: { info } as JsonObject });
    return claim.ok ? claim.value.kind : `${claim.refusal.code} ${claim.refusal.fields?.[0]}`;
  };
  const at = `request_commitment_malformed extensions.${commitmentExtension}`;
  assert.equal(read({ required: true, profile: 'http:1' }), 'none');
  assert.equal(read({ salt }), 'salted');
  assert.equal(read({ salt, profile: 'http:1', requestDigest: salt }), 'salted');
  for (const wrong of ['', 'ab', `0x${salt}`, salt.toUpperCase(), `${salt}0`, 7, null, [salt]]) {
    assert.equal(read({ salt: wrong }), `${at}.salt`);
  }
  assert.equal(read({ salt, profile: 'mcp:1' }), `${at}.profile`);
  assert.equal(read({ salt, requestDigest: 'ab' }), `${at}.requestDigest`);
  assert.equal(read(undefined), `${at}.info`);
  assert.equal(read('text'), `${at}.info`);
  const empty = readCommitment({});
  assert.ok(empty.ok && empty.value.kind === 'none');
  const inherited = readCommitment(Object.create({ [commitmentExtension]: { info: { salt } } }));
  assert.ok(inherited.ok && inherited.value.kind === 'none');
});

test('without a digest the declaration names only what is bound', () => {
  assert.deepEqual(declareCommitment({ required: false, boundHeaders: defaultBoundHeaders }), {
    info: {
      required: false,
      profile: 'http:1',
      bindingParams: { headers: ['content-encoding', 'content-type'] },
    },
  });
});

test('a request that has no http:1 form is not signed for', async () => {
  const [first] = vectors;
  assert.ok(first);
  const declared = declareCommitment({ required: true, boundHeaders: [] });
  const payment = await sign(
    required({ [commitmentExtension]: declared }),
    { ...first.request, url: 'https://user@api.example.com/' },
    new Uint8Array(32),
  );
  assert.equal(payment.ok ? 'signed' : payment.refusal.code, 'request_malformed');
  const digest = requestDigest(
    { method: 'GET', url: 'https://user@x/', body: new Uint8Array(), headerLines: [], boundHeaders: [] },
    commitmentDomain,
    sha256,
  );
  assert.ok(!digest.ok);
});
