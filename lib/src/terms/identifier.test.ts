import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  appendPaymentIdentifierToExtensions,
  declarePaymentIdentifierExtension,
  extractAndValidatePaymentIdentifier,
  isPaymentIdentifierExtension,
  isPaymentIdentifierRequired,
  isValidPaymentId,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier';
import { parseJson } from '../wire/json.ts';
import type { Json, JsonObject } from '../wire/v2.ts';
import { declarePaymentIdentifier, paymentIdentifierKey, readPaymentIdentifier } from './identifier.ts';

const good = 'pay_7d5d747be160e280504c099d984bcfe0';

/** What a buyer holds after it has read the header. */
function received(required: boolean): { [key: string]: unknown } {
  return JSON.parse(JSON.stringify({ [paymentIdentifierKey]: declarePaymentIdentifier(required) }));
}

function read(extensions: unknown): ReturnType<typeof readPaymentIdentifier> {
  const parsed = parseJson(JSON.stringify(extensions));
  assert.ok(parsed.ok);
  return readPaymentIdentifier(parsed.value as JsonObject);
}

function readInfo(info: Json): ReturnType<typeof readPaymentIdentifier> {
  return read({ [paymentIdentifierKey]: { info } });
}

for (const required of [false, true]) {
  test(`the stock client names its payment after our declaration with required: ${required}`, () => {
    const extensions = received(required);
    const declared = extensions[paymentIdentifierKey];
    assert.ok(isPaymentIdentifierExtension(declared));
    assert.equal(isPaymentIdentifierRequired(declared), required);
    assert.deepEqual(validatePaymentIdentifier(declared), { valid: true });

    appendPaymentIdentifierToExtensions(extensions);
    assert.deepEqual(validatePaymentIdentifier(extensions[paymentIdentifierKey]), { valid: true });
    const sent = { x402Version: 2, extensions } as Parameters<typeof extractAndValidatePaymentIdentifier>[0];
    const theirs = extractAndValidatePaymentIdentifier(sent);
    assert.equal(theirs.validation.valid, true);
    assert.deepEqual(read(extensions), { ok: true, value: theirs.id });
    assert.match(String(theirs.id), /^pay_[0-9a-f]{32}$/);
  });
}

test('the reference package asks for no schema, and ours is less than half of its size', () => {
  const bare = { info: { required: true } };
  assert.ok(isPaymentIdentifierExtension(bare));
  assert.deepEqual(validatePaymentIdentifier(bare), { valid: true });
  const ours = JSON.stringify(declarePaymentIdentifier(true)).length;
  const theirs = JSON.stringify(declarePaymentIdentifierExtension(true)).length;
  assert.ok(ours * 2 < theirs + 1, `${ours} of ${theirs} octets`);
});

test('our schema refuses the identifiers that the reference package refuses', () => {
  const { schema } = declarePaymentIdentifier(true);
  for (const id of [
    'a'.repeat(15),
    'a'.repeat(16),
    'a'.repeat(128),
    'a'.repeat(129),
    'a'.repeat(15).concat('é'),
  ]) {
    const judged = validatePaymentIdentifier({ info: { required: true, id }, schema });
    assert.equal(judged.valid, isValidPaymentId(id), id);
    assert.equal(readInfo({ required: true, id }).ok, isValidPaymentId(id), id);
  }
});

test('a payment without an identifier has none, whatever way it leaves it out', () => {
  assert.deepEqual(readPaymentIdentifier(undefined), { ok: true, value: undefined });
  for (const extensions of [
    {},
    { other: {} },
    { [paymentIdentifierKey]: null },
    { [paymentIdentifierKey]: {} },
    { [paymentIdentifierKey]: { info: null } },
    { [paymentIdentifierKey]: { info: { required: true } } },
    { [paymentIdentifierKey]: { info: { required: true, id: null } } },
  ]) {
    assert.deepEqual(read(extensions), { ok: true, value: undefined }, JSON.stringify(extensions));
  }
});

test('an identifier of 16 to 128 letters, digits, hyphens and underscores is read as it is', () => {
  for (const id of [good, 'A'.repeat(16), 'z-_9'.repeat(32)]) {
    assert.deepEqual(readInfo({ required: false, id }), { ok: true, value: id });
  }
});

test('an identifier that breaks the rules is refused and not repeated', () => {
  const wrong: readonly Json[] = [
    '',
    'a'.repeat(15),
    'a'.repeat(129),
    `${good}\n`,
    `${good} `,
    `${good}é`,
    `${good}.`,
    12345678901234,
    true,
    [good],
    { id: good },
  ];
  for (const id of wrong) {
    assert.deepEqual(
      readInfo({ required: true, id }),
      { ok: false, refusal: { code: 'payment_malformed', fields: ['extensions.payment-identifier'] } },
      JSON.stringify(id),
    );
  }
  for (const value of ['text', 1, true, [], { info: 'text' }, { info: [] }]) {
    assert.equal(read({ [paymentIdentifierKey]: value }).ok, false, JSON.stringify(value));
  }
});

test('the declaration is frozen, so that no 402 can change the next one', () => {
  const declared = declarePaymentIdentifier(true);
  assert.ok(Object.isFrozen(declared) && Object.isFrozen(declared.info) && Object.isFrozen(declared.schema));
});

test('required is a boolean', () => {
  assert.throws(() => declarePaymentIdentifier('true' as unknown as boolean), TypeError);
});
