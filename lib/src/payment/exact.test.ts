import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDigestSigner, recoverNoble } from '../crypto/secp256k1.ts';
import { lookupAsset } from '../terms/assets.ts';
import { buildRequirements, defineTerms } from '../terms/requirements.ts';
import type { Json, JsonObject, PaymentPayload } from '../wire/v2.ts';
import { signExactEvm } from './client.ts';
import { checkPayment, parseExactEvm } from './exact.ts';
import { checkSignature } from './signature.ts';

const terms = defineTerms({
  accepts: [{ network: 'eip155:8453', payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' }],
});
const [requirement] = buildRequirements('$0.01', terms);
assert.ok(requirement);
const asset = lookupAsset(requirement.network, requirement.asset);
assert.ok(asset);
const honest = await signExactEvm({
  requirement,
  signer: createDigestSigner(new Uint8Array(32).fill(7)),
  nowMs: 1_780_000_000_000,
  random: (length) => new Uint8Array(randomBytes(length)),
});
const authorization = honest.payload.authorization as { readonly [name: string]: string };
const signature = honest.payload.signature as string;

function withPayload(payload: unknown): PaymentPayload {
  return { ...honest, payload: payload as JsonObject };
}

function withAuthorization(change: object): PaymentPayload {
  return withPayload({ signature, authorization: { ...authorization, ...change } });
}

function refusal(payment: PaymentPayload): string {
  const outcome = parseExactEvm(payment);
  return outcome.ok ? 'accepted' : `${outcome.refusal.code} ${outcome.refusal.fields}`;
}

/** Hex digits in random letter case; the prefix stays. */
function respell(text: string): fc.Arbitrary<string> {
  return fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) =>
      [...text].map((digit, at) => (at > 1 && upper[at] ? digit.toUpperCase() : digit)).join(''),
    );
}

/** The same members in a random order. */
function reorder(object: object): fc.Arbitrary<object> {
  return fc
    .shuffledSubarray(Object.entries(object), { minLength: Object.keys(object).length })
    .map((entries) => Object.assign(Object.create(null), Object.fromEntries(entries)));
}

test('an honest payment is read in full', () => {
  const outcome = parseExactEvm(honest);
  assert.ok(outcome.ok);
  const { payload, signature: octets, ...rest } = outcome.value;
  assert.deepEqual(rest, {
    scheme: 'exact',
    method: 'eip3009',
    network: 'eip155:8453',
    asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    payer: authorization.from,
    payTo: '0x209693bc6afc0c5328ba36faf03c514ef312287c',
    amount: 10_000n,
    validAfter: 0n,
    validBefore: 1_780_000_300n,
    nonce: authorization.nonce,
    signatureKind: 'ecdsa',
    key: `eip155:8453/eip3009/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913/${authorization.from}/${authorization.nonce}`,
  });
  assert.equal(octets.length, 65);
  assert.deepEqual(payload, honest.payload);
});

test('C05: one thousand spellings of one authorization make one key, one payload and one signer', () => {
  const canonical = parseExactEvm(honest);
  assert.ok(canonical.ok);
  const spelling = fc
    .tuple(
      respell(authorization.from ?? ''),
      respell(authorization.to ?? ''),
      respell(authorization.nonce ?? ''),
      respell(signature),
      respell(requirement.asset.toLowerCase()),
    )
    .chain(([from, to, nonce, spelled, token]) =>
      fc
        .tuple(reorder({ ...authorization, from, to, nonce }), fc.constant(spelled), fc.constant(token))
        .chain(([inner, text, address]) =>
          fc.tuple(reorder({ signature: text, authorization: inner }), fc.constant(address)),
        ),
    );
  const seen = new Set<string>();
  fc.assert(
    fc.property(spelling, ([payload, token]) => {
      const payment = { ...withPayload(payload), accepted: { ...requirement, asset: token } };
      seen.add(JSON.stringify([payload, token]));
      const outcome = parseExactEvm(payment);
      assert.ok(outcome.ok);
      assert.equal(outcome.value.key, canonical.value.key);
      assert.deepEqual(outcome.value, canonical.value);
    }),
    { numRuns: 1000 },
  );
  assert.ok(seen.size > 900, `${seen.size} spellings were different`);
  assert.equal(checkSignature(canonical.value, asset.domain, recoverNoble).by, 'payer');
});

test('C05: a spelling that is not canonical is refused before there is a key', () => {
  const wrong: readonly (readonly [string, Json])[] = [
    ['from', `0X${authorization.from?.slice(2)}`],
    ['from', authorization.from?.slice(2) ?? ''],
    ['from', ` ${authorization.from}`],
    ['from', `${authorization.from}\n`],
    ['from', `${authorization.from}00`],
    ['to', `${authorization.to?.slice(0, -1)}g`],
    ['to', null],
    ['nonce', `0X${authorization.nonce?.slice(2)}`],
    ['nonce', `${authorization.nonce}00`],
    ['nonce', authorization.nonce?.slice(0, -2) ?? ''],
    ['nonce', '0x1'],
    ['nonce', '1'],
    ['value', '010000'],
    ['value', ' 10000'],
    ['value', '10000 '],
    ['value', '+10000'],
    ['value', '-1'],
    ['value', '1e4'],
    ['value', '0x2710'],
    ['value', '10000.0'],
    ['value', ''],
    ['value', '１００００'],
    ['value', 10_000],
    ['value', (2n ** 256n).toString()],
    ['validAfter', ' 0'],
    ['validAfter', '00'],
    ['validAfter', 0],
    ['validAfter', '-0'],
    ['validBefore', '01780000300'],
    ['validBefore', 1_780_000_300],
    ['validBefore', ['1780000300']],
    ['validBefore', true],
  ];
  for (const [name, value] of wrong) {
    assert.equal(
      refusal(withAuthorization({ [name]: value })),
      `payment_malformed payload.authorization.${name}`,
      JSON.stringify(value),
    );
  }
});

test('C05: the signature has one spelling too, and a size that a header can hold', () => {
  const wrong: readonly Json[] = [
    '',
    '0x',
    '0x1',
    signature.slice(2),
    `0X${signature.slice(2)}`,
    `${signature} `,
    `${signature}z0`,
    `0x${'00'.repeat(4097)}`,
    null,
    27,
    [signature],
    { r: '0x1' },
  ];
  for (const text of wrong) {
    assert.equal(
      refusal(withPayload({ signature: text, authorization })),
      'payment_malformed payload.signature',
    );
  }
  assert.equal(refusal(withPayload({ signature: `0x${'00'.repeat(4096)}`, authorization })), 'accepted');
});

test('G02: an additional or missing member is refused, because another reader might give it a meaning', () => {
  assert.equal(refusal(withAuthorization({ extra: '1' })), 'payment_malformed payload.authorization');
  for (const name of Object.keys(authorization)) {
    const { [name]: _, ...rest } = authorization;
    assert.equal(
      refusal(withPayload({ signature, authorization: rest })),
      'payment_malformed payload.authorization',
    );
    const renamed = { ...rest, [name.toUpperCase()]: authorization[name] };
    assert.equal(
      refusal(withPayload({ signature, authorization: renamed })),
      'payment_malformed payload.authorization',
    );
  }
  assert.equal(refusal(withPayload({ signature, authorization, v: 27 })), 'payment_malformed payload');
  for (const payload of [{}, { signature }, { authorization }, []]) {
    assert.equal(refusal(withPayload(payload)), 'payment_malformed payload');
  }
  for (const inner of [null, 'x', 1, [], [authorization]]) {
    assert.equal(
      refusal(withPayload({ signature, authorization: inner })),
      'payment_malformed payload.authorization',
    );
  }
});

test('P07: no JSON whatever in place of payload or authorization makes the reader throw', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.jsonValue(),
      fc.constantFrom(...Object.keys(authorization)),
      (value, other, name) => {
        const payload = typeof value === 'object' && value !== null ? value : { value };
        assert.notEqual(refusal(withPayload(payload)), 'accepted');
        assert.match(refusal(withPayload({ signature, authorization: value })), /^payment_malformed/);
        const changed = refusal(withAuthorization({ [name]: other }));
        assert.ok(
          changed === 'accepted' ? typeof other === 'string' : changed.startsWith('payment_malformed'),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('another scheme, chain family or transfer method is named as not served', () => {
  const accept = (change: object): PaymentPayload => ({
    ...honest,
    accepted: { ...honest.accepted, ...change },
  });
  assert.equal(refusal(accept({ scheme: 'upto' })), 'scheme_unsupported accepted.scheme');
  assert.equal(
    refusal(accept({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' })),
    'scheme_unsupported accepted.network',
  );
  assert.equal(
    refusal(accept({ extra: { assetTransferMethod: 'permit2' } })),
    'scheme_unsupported accepted.extra.assetTransferMethod',
  );
  assert.equal(refusal(accept({ extra: { assetTransferMethod: null } })), 'accepted');
  assert.equal(refusal(accept({ extra: { assetTransferMethod: 'eip3009' } })), 'accepted');
  assert.equal(refusal(withPayload({ signature, permit2Authorization: {} })), 'scheme_unsupported payload');
  assert.equal(
    refusal(withPayload({ delegationManager: '0x', permissionContext: '0x' })),
    'scheme_unsupported payload',
  );
  for (const network of ['eip155:08453', 'eip155:0', 'base', 'EIP155:8453', '']) {
    assert.equal(refusal(accept({ network })), 'payment_malformed accepted.network');
  }
  assert.equal(refusal(accept({ asset: 'USDC' })), 'payment_malformed accepted.asset');
});

test('what only a contract can judge is told from a plain signature by its octets', () => {
  const kind = (text: string): string | undefined => {
    const outcome = parseExactEvm(withPayload({ signature: text, authorization }));
    return outcome.ok ? outcome.value.signatureKind : undefined;
  };
  assert.equal(kind(signature), 'ecdsa');
  assert.equal(kind(signature.slice(0, -2)), 'contract', 'the compact form of EIP-2098 is never converted');
  assert.equal(kind(`${signature}00`), 'contract');
  assert.equal(kind('0x00'), 'contract');
  assert.equal(kind(`0x${'11'.repeat(300)}${'6492'.repeat(16)}`), 'contract');
  assert.equal(kind(`0x${'11'.repeat(33)}${'6492'.repeat(16)}`), 'contract');
});

test('C06: the requirement of a route has no part in the key', () => {
  const dearer = { ...honest, accepted: { ...honest.accepted, amount: 99n, maxTimeoutSeconds: 5 } };
  const [one, two] = [parseExactEvm(honest), parseExactEvm(dearer)];
  assert.ok(one.ok && two.ok && one.value.key === two.value.key);
});

test('B08: the signed transfer itself is compared with our entry, member by member', () => {
  const parsed = parseExactEvm(honest);
  assert.ok(parsed.ok);
  const payment = parsed.value;
  assert.equal(checkPayment(payment, requirement), undefined);
  const changes: readonly (readonly [object, object, string])[] = [
    [{ amount: 9_999n }, {}, 'authorization.value'],
    [{ amount: 10_001n }, {}, 'authorization.value'],
    [{ payTo: payment.payer }, {}, 'authorization.to'],
    [{ asset: payment.payer }, {}, 'asset'],
    [{ network: 'eip155:84532' }, {}, 'network'],
    [{}, { scheme: 'upto' }, 'scheme'],
    [{}, { amount: 1n }, 'authorization.value'],
    [{}, { payTo: 'merchant' }, 'authorization.to'],
  ];
  for (const [paid, asked, field] of changes) {
    assert.deepEqual(checkPayment({ ...payment, ...paid }, { ...requirement, ...asked }), {
      code: 'requirement_mismatch',
      fields: [field],
    });
  }
});
