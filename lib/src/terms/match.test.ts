import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PaymentRequirements } from '../wire/v2.ts';
import { matchRequirement } from './match.ts';
import { buildRequirements, defineTerms } from './requirements.ts';

const terms = defineTerms({
  accepts: [
    { network: 'eip155:8453', payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' },
    { network: 'eip155:84532', payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  ],
  flow: 'upfront',
});
const requirements = buildRequirements('$0.01', terms);
const [ours, other] = requirements;
assert.ok(ours && other);

function refusedFields(accepted: unknown): readonly string[] | undefined {
  const outcome = matchRequirement(accepted as PaymentRequirements, requirements);
  if (outcome.ok) return undefined;
  assert.equal(outcome.refusal.code, 'requirement_mismatch');
  return outcome.refusal.fields;
}

test('an honest copy matches, and what is used afterwards is our own entry', () => {
  for (const requirement of requirements) {
    const outcome = matchRequirement(structuredClone(requirement), requirements);
    assert.ok(outcome.ok && outcome.value === requirement);
  }
});

test('addresses match in any letter case', () => {
  const spelled = { ...ours, asset: ours.asset.toLowerCase(), payTo: ours.payTo.toLowerCase() };
  assert.equal(refusedFields(spelled), undefined);
});

test('B08: each of the seven members, changed alone, is refused and named', () => {
  const changes: readonly (readonly [string, object])[] = [
    ['scheme', { scheme: 'upto' }],
    ['network', { network: 'eip155:1' }],
    ['amount', { amount: 9_999n }],
    ['amount', { amount: 10_001n }],
    ['asset', { asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }],
    ['payTo', { payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }],
    ['maxTimeoutSeconds', { maxTimeoutSeconds: 301 }],
    ['extra.version', { extra: { ...ours.extra, version: '1' } }],
  ];
  for (const [field, change] of changes) assert.deepEqual(refusedFields({ ...ours, ...change }), [field]);
});

test('B08: the asset of a test network is not taken on the main network', () => {
  assert.deepEqual(refusedFields({ ...other, network: ours.network }), ['network']);
  assert.deepEqual(refusedFields({ ...ours, asset: other.asset }), ['asset']);
});

test('B09: a member of extra that we did not ask for is refused, and the name that the buyer chose is not repeated', () => {
  for (const name of ['assetTransferMethod', 'facilitator', 'feePayer', '<script>', '__proto__']) {
    const extra: object = Object.defineProperty({ ...ours.extra }, name, { value: 'x', enumerable: true });
    assert.deepEqual(refusedFields({ ...ours, extra }), ['extra'], name);
  }
  assert.deepEqual(refusedFields({ ...ours, extra: { ...ours.extra, paymentFlow: 'authorization' } }), [
    'extra.paymentFlow',
  ]);
});

test('P08: null counts as absent, on both sides', () => {
  assert.equal(refusedFields({ ...ours, extra: { ...ours.extra, assetTransferMethod: null } }), undefined);
  assert.deepEqual(refusedFields({ ...ours, extra: { ...ours.extra, name: null } }), ['extra.name']);
  assert.deepEqual(refusedFields({ ...ours, extra: {} }), [
    'extra.name',
    'extra.version',
    'extra.paymentFlow',
  ]);
  const asked = [{ ...ours, extra: { ...ours.extra, hint: null } }];
  assert.ok(matchRequirement(structuredClone(ours), asked).ok);
});

test('members of extra are compared as JSON, whatever their order', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (extra) => {
      const asked = [{ ...ours, extra } as PaymentRequirements];
      const shuffled = Object.fromEntries(Object.entries(structuredClone(extra)).reverse());
      assert.ok(matchRequirement({ ...ours, extra: shuffled } as PaymentRequirements, asked).ok);
    }),
    { numRuns: 200 },
  );
});

test('no terms match nothing', () => {
  assert.equal(matchRequirement(ours, []).ok, false);
});
