import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { network, type Rig, said } from '../../test/rig.ts';
import { openTestShop, type TestShop } from '../../test/shop.ts';
import { failsItself, knownReason, reasonClass, saysNonceUsed, unexpectedReason } from './reasons.ts';

/** The reasons of the installed official facilitator for exact on EVM, by the name of their constant. */
function officialReasons(): ReadonlyMap<string, string> {
  const folder = dirname(createRequire(import.meta.url).resolve('@x402/evm/exact/facilitator'));
  const root = join(folder.replace(/[/\\]cjs[/\\].*/, '/cjs'), '..', 'esm');
  const table = readdirSync(root)
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => readFileSync(join(root, name), 'utf8'))
    .find((text) => text.includes('// src/exact/facilitator/errors.ts'));
  assert.ok(table, 'the official table of errors was not found');
  return new Map(
    [...table.matchAll(/var (Err\w+) = "(\w+)"/g)].map(([, name, reason]) => [name ?? '', reason ?? '']),
  );
}

const official = officialReasons();
/** Of Permit2, which this seller does not accept yet: approvals that may have been broadcast are among them. */
const permit2 = /Permit2|Erc20Approval|Eip2612/;

test('every reason that the official facilitator gives for an EIP-3009 payment is known by name', () => {
  const ours = [...official].filter(([name]) => !permit2.test(name)).map(([, reason]) => reason);
  assert.ok(ours.length >= 20, `${ours.length} reasons`);
  assert.deepEqual(
    ours.filter((reason) => knownReason(reason) !== reason),
    [],
  );
});

test('a reason is definite only where the official facilitator gives it before anything was broadcast', () => {
  const afterBroadcast = [
    'ErrTransactionFailed',
    'ErrTransferEventMismatch',
    'ErrEip3009NonceAlreadyUsed',
    'ErrEip3009SimulationFailed',
    'ErrInvalidTransactionState',
    'ErrSmartWalletDeploymentFailed',
  ];
  for (const name of afterBroadcast)
    assert.equal(reasonClass(knownReason(official.get(name))), 'look_up', name);
  assert.equal(reasonClass(knownReason(official.get('ErrSettlementPending'))), 'pending');
  for (const [name, reason] of official) {
    if (!permit2.test(name)) continue;
    const known = knownReason(reason) === reason;
    assert.equal(reasonClass(knownReason(reason)) === 'definite', known && !/InvalidNonce/.test(name), name);
  }
});

/** Section 9 of the specification. */
const specified: readonly (readonly [string, ReturnType<typeof reasonClass>])[] = [
  ['insufficient_funds', 'definite'],
  ['invalid_exact_evm_payload_authorization_valid_after', 'definite'],
  ['invalid_exact_evm_payload_authorization_valid_before', 'definite'],
  ['invalid_exact_evm_payload_authorization_value', 'definite'],
  ['invalid_exact_evm_payload_signature', 'definite'],
  ['invalid_exact_evm_payload_recipient_mismatch', 'definite'],
  ['invalid_network', 'definite'],
  ['invalid_payload', 'definite'],
  ['invalid_payment_requirements', 'definite'],
  ['invalid_scheme', 'definite'],
  ['unsupported_scheme', 'definite'],
  ['invalid_x402_version', 'definite'],
  ['invalid_transaction_state', 'look_up'],
  ['unexpected_verify_error', 'look_up'],
  ['unexpected_settle_error', 'look_up'],
  ['duplicate_settlement', 'look_up'],
  ['settlement_pending', 'pending'],
];
for (const [reason, expected] of specified) {
  test(`the reason ${reason} is ${expected}`, () => {
    assert.equal(knownReason(reason), reason);
    assert.equal(reasonClass(reason), expected);
  });
}

test('whatever else a facilitator says is one reason, which proves nothing', () => {
  const known = new Set([...official.values(), ...specified.map(([reason]) => reason)]);
  const texts = fc.oneof(
    fc.string(),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'INSUFFICIENT_FUNDS', ' insufficient_funds', ''),
    fc.jsonValue() as fc.Arbitrary<string>,
  );
  fc.assert(
    fc.property(texts, (text) => {
      if (known.has(text)) return;
      assert.equal(knownReason(text), unexpectedReason);
      assert.equal(reasonClass(text), 'look_up');
    }),
  );
  assert.equal(reasonClass(unexpectedReason), 'look_up');
});

test('the reasons that say that the nonce is spent are told apart from all others', () => {
  const spent = [...official.values()].filter(saysNonceUsed);
  assert.deepEqual(spent.sort(), ['invalid_exact_evm_nonce_already_used', 'invalid_transaction_state']);
});

const secret = 'sk_live_51 postgres://admin:hunter2@10.0.0.7/pay Error: at settle (/srv/facilitator.js:10:5)';
const words = { errorReason: secret, errorMessage: secret, invalidReason: secret, invalidMessage: secret };
const hostile: readonly (readonly [string, 'verifies' | 'settles', Parameters<typeof said>])[] = [
  ['a verdict', 'verifies', [{ isValid: false, ...words, payer: secret }]],
  ['a verdict under status 400', 'verifies', [{ isValid: false, ...words }, 400]],
  ['an error instead of a verdict', 'verifies', [{ error: secret }, 500]],
  ['a refusal', 'settles', [{ success: false, ...words, transaction: '', network }]],
  [
    'a refusal that names a transaction',
    'settles',
    [{ success: false, ...words, transaction: secret, network: secret }],
  ],
  ['an error', 'settles', [{ error: secret, ...words }, 502]],
  ['a success', 'settles', [{ success: true, ...words, transaction: secret, network, payer: secret }]],
];

function tell(shop: TestShop, part: 'verifies' | 'settles', answer: Parameters<typeof said>): void {
  const script = said(...answer);
  if (part === 'verifies') shop.rig.verifies.push(script);
  else shop.rig.settles.push({ says: script });
}

/** Everything that a buyer, an observer or a reader of the store can see. */
async function everythingSaid(rig: Rig, answers: readonly unknown[]): Promise<string> {
  const records = await rig.options.store.list({ limit: 10 });
  return JSON.stringify([answers, rig.events, records], (_name, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

for (const flow of ['authorization', 'upfront'] as const) {
  for (const [name, part, answer] of hostile) {
    test(`H14: ${flow}, nothing that a facilitator writes into ${name} reaches a buyer, an event or the store`, async () => {
      const shop = openTestShop({ route: { flow } });
      const payment = await shop.payment();
      tell(shop, part, answer);
      const first = await shop.ask({ payment });
      const told = await everythingSaid(shop.rig, [first, await shop.ask({ payment })]);
      assert.doesNotMatch(told, /sk_live|hunter2|facilitator\.js|10\.0\.0\.7/);
      if (part === 'settles') assert.equal(first.required, undefined);
    });
  }
}

test('S08: words that speak of the facilitator are told from those that a payer can bring about', () => {
  const failed = official.get('ErrTransactionFailed') ?? '';
  assert.equal(failsItself({ reason: failed }), true, 'a relayer whose nonce was raced broadcasts nothing');
  assert.equal(failsItself({ reason: failed, transaction: '0x1' }), false, 'it was mined and reverted');
  for (const reason of ['unexpected_settle_error', 'unexpected_verify_error', unexpectedReason]) {
    assert.equal(failsItself({ reason }), true, reason);
  }
  const payers = ['ErrEip3009NonceAlreadyUsed', 'ErrEip3009SimulationFailed', 'ErrInvalidTransactionState'];
  for (const name of payers) assert.equal(failsItself({ reason: official.get(name) ?? '' }), false, name);
});
