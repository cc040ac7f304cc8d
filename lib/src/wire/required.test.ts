/** PAYMENT-REQUIRED on the wire. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { sealHeader } from './header.ts';
import {
  decodePaymentRequired,
  encodePaymentRequired,
  prepareRequired,
  readPaymentRequired,
  readPaymentRequirements,
  writePaymentRequired,
} from './required.ts';
import type { Json, JsonObject, PaymentRequired } from './v2.ts';

const entry = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '10000',
  payTo: '0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
} satisfies JsonObject;

const message = {
  x402Version: 2,
  error: 'PAYMENT-SIGNATURE header is required',
  resource: { url: 'http://127.0.0.1/a', description: 'Weather', mimeType: 'application/json' },
  accepts: [entry],
} satisfies JsonObject;

function read(json: Json): PaymentRequired {
  const outcome = readPaymentRequired(json);
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.refusal.detail);
  return outcome.value;
}

function detailOf(json: Json): string {
  const outcome = readPaymentRequired(json);
  assert.ok(!outcome.ok, 'the message is accepted');
  assert.equal(outcome.refusal.code, 'payment_malformed');
  return outcome.refusal.detail ?? '';
}

function text(header: string): string {
  return Buffer.from(header, 'base64').toString();
}

test('a stock challenge is read into typed terms', () => {
  const outcome = decodePaymentRequired(sealHeader(message));
  assert.ok(outcome.ok);
  const [terms] = outcome.value.accepts;
  assert.equal(terms?.amount, 10000n);
  assert.equal(terms?.asset, entry.asset);
  assert.equal(terms?.extra.name, 'USDC');
  assert.equal(outcome.value.resource.url, 'http://127.0.0.1/a');
});

test('members are written in the order of the reference types', () => {
  assert.equal(text(encodePaymentRequired(read(message))), JSON.stringify(message));
});

test('BUG-001: a description outside Latin-1 makes the round trip byte for byte', () => {
  const json = {
    x402Version: 2,
    resource: { url: 'http://127.0.0.1/a', description: 'Informe diario — 5 €' },
    accepts: [],
  };
  assert.equal(text(encodePaymentRequired(read(json))), JSON.stringify(json));
});

test('BUG-002: a challenge is produced for any description', () => {
  for (const description of ['Café — ☕', '\u202eoffer', 'a\nb', '\ud83d']) {
    const header = encodePaymentRequired({
      ...read(message),
      resource: { url: 'http://127.0.0.1/a', description },
    });
    assert.match(header, /^[ -~]+$/);
    const outcome = decodePaymentRequired(header);
    assert.ok(outcome.ok);
    assert.equal(outcome.value.resource.description, description.toWellFormed());
  }
});

test('BUG-009: the header alone is a complete challenge, and one without its resource is refused', () => {
  const { resource: _, ...headless } = message;
  assert.equal(detailOf(headless), 'resource: expected an object, got nothing');
  assert.deepEqual(
    JSON.parse(text(encodePaymentRequired(read(message)))),
    JSON.parse(JSON.stringify(writePaymentRequired(read(message)))),
  );
});

test('P08, BUG-007: an optional member that is null counts as absent', () => {
  const nulls = {
    ...message,
    error: null,
    extensions: null,
    resource: {
      url: 'http://127.0.0.1/a',
      description: null,
      mimeType: null,
      serviceName: null,
      tags: null,
      iconUrl: null,
    },
    accepts: [{ ...entry, extra: null }],
  };
  const value = read(nulls);
  assert.deepEqual(Object.keys(value), ['x402Version', 'resource', 'accepts']);
  assert.deepEqual(Object.keys(value.resource), ['url']);
  assert.deepEqual(Object.keys(value.accepts[0]?.extra ?? { none: true }), []);
  assert.equal(
    detailOf({ ...message, accepts: [{ ...entry, payTo: null }] }),
    'accepts[0].payTo: expected a string, got nothing',
  );
});

test('P07: a member of the wrong type is named by its path and nothing of it is repeated', () => {
  const bent = (change: JsonObject): JsonObject => ({
    ...message,
    accepts: [entry, { ...entry, ...change }],
  });
  const cases: readonly (readonly [JsonObject, string])[] = [
    [{ ...message, accepts: {} }, 'accepts: expected an array, got an object'],
    [{ ...message, accepts: null }, 'accepts: expected an array, got nothing'],
    [{ ...message, accepts: [[]] }, 'accepts[0]: expected an object, got an array'],
    [{ ...message, resource: 'http://127.0.0.1/a' }, 'resource: expected an object, got a string'],
    [{ ...message, resource: { url: 7 } }, 'resource.url: expected a string, got a number'],
    [{ ...message, error: ['x'] }, 'error: expected a string, got an array'],
    [{ ...message, extensions: [] }, 'extensions: expected an object, got an array'],
    [bent({ extra: [] }), 'accepts[1].extra: expected an object, got an array'],
    [bent({ scheme: true }), 'accepts[1].scheme: expected a string, got a boolean'],
    [
      bent({ maxTimeoutSeconds: '300' }),
      'accepts[1].maxTimeoutSeconds: expected a whole number of at least 1, got a string',
    ],
    [
      bent({ amount: 10000 }),
      'accepts[1].amount: expected atomic units as a decimal string below 2^256, got a number',
    ],
  ];
  for (const [json, detail] of cases) assert.equal(detailOf(json), detail);
});

test('P05: only a plain decimal string is an amount', () => {
  for (const amount of [
    '',
    ' 12 ',
    '0x10',
    '010000',
    '1e3',
    '-1',
    '0.01',
    '$0.01',
    (2n ** 256n).toString(),
  ]) {
    assert.match(
      detailOf({ ...message, accepts: [{ ...entry, amount }] }),
      /^accepts\[0\]\.amount: expected atomic units/,
    );
  }
  assert.equal(
    read({ ...message, accepts: [{ ...entry, amount: (2n ** 256n - 1n).toString() }] }).accepts[0]?.amount,
    2n ** 256n - 1n,
  );
});

test('C05: another spelling of a network is refused', () => {
  for (const network of ['base-sepolia', 'eip155:084532', 'EIP155:84532', 'eip155:84532 ', '84532']) {
    assert.match(
      detailOf({ ...message, accepts: [{ ...entry, network }] }),
      /network: expected a canonical CAIP-2 network/,
    );
  }
});

test('P06: invisible characters hide in no address, asset or scheme', () => {
  for (const key of ['asset', 'payTo', 'scheme']) {
    for (const value of ['0x12\u200b', ' 0x12', '0x12\n', 'merch\u00e4nt', '', 'x'.repeat(300)]) {
      assert.match(
        detailOf({ ...message, accepts: [{ ...entry, [key]: value }] }),
        new RegExp(`^accepts\\[0\\]\\.${key}: expected`),
      );
    }
  }
});

test('the limits of a resource description are kept', () => {
  const described = (change: JsonObject): JsonObject => ({
    ...message,
    resource: { url: 'http://127.0.0.1/a', ...change },
  });
  const good = {
    serviceName: 'Weather & Co',
    tags: ['a', 'b', 'c', 'd', 'e'],
    iconUrl: 'https://127.0.0.1/i.png',
  };
  assert.deepEqual({ ...read(described(good)).resource }, { url: 'http://127.0.0.1/a', ...good });
  const cases: readonly (readonly [JsonObject, RegExp])[] = [
    [{ serviceName: 'x'.repeat(33) }, /^resource\.serviceName: /],
    [{ serviceName: 'Wetter für alle' }, /^resource\.serviceName: /],
    [{ tags: ['a', 'b', 'c', 'd', 'e', 'f'] }, /^resource\.tags: expected at most 5/],
    [{ tags: ['a', ''] }, /^resource\.tags\[1\]: /],
    [{ tags: [1] }, /^resource\.tags\[0\]: expected a string, got a number/],
    [{ tags: 'a' }, /^resource\.tags: expected an array/],
    [{ iconUrl: 'javascript:alert(1)' }, /^resource\.iconUrl: /],
    [{ iconUrl: `https://127.0.0.1/${'i'.repeat(2048)}` }, /^resource\.iconUrl: /],
    [{ url: '' }, /^resource\.url: /],
    [{ url: 'http://127.0.0.1/a b' }, /^resource\.url: /],
    [{ url: 'http://127.0.0.1/\u0000' }, /^resource\.url: /],
    [{ url: `http://127.0.0.1/${'a'.repeat(8192)}` }, /^resource\.url: /],
  ];
  for (const [change, detail] of cases) assert.match(detailOf(described(change)), detail);
});

test('a timeout is a whole number of seconds, at least one', () => {
  for (const maxTimeoutSeconds of [0, -1, 60.5]) {
    assert.match(
      detailOf({ ...message, accepts: [{ ...entry, maxTimeoutSeconds }] }),
      /maxTimeoutSeconds: expected a whole number/,
    );
  }
});

test('unknown members are dropped, but kept in extra and extensions', () => {
  const value = read({
    ...message,
    junk: 1,
    extensions: { bazaar: { info: { junk: 2 } } },
    accepts: [{ ...entry, outputSchema: {}, extra: { name: 'USDC', private: [1] } }],
  });
  const written = JSON.stringify(writePaymentRequired(value));
  assert.ok(!written.includes('outputSchema') && !written.includes('"junk":1'));
  assert.ok(written.includes('"junk":2') && written.includes('"private":[1]'));
});

test('one entry of accepts is read by itself', () => {
  const outcome = readPaymentRequirements(entry);
  assert.ok(outcome.ok);
  assert.equal(outcome.value.amount, 10000n);
  assert.equal(readPaymentRequirements([]).ok, false);
});

test('an amount that no token can move is a mistake of the seller and is not written', () => {
  const [terms] = read(message).accepts;
  assert.ok(terms);
  assert.throws(
    () => encodePaymentRequired({ ...read(message), accepts: [{ ...terms, amount: -1n }] }),
    RangeError,
  );
});

test('a header that was prepared is, for any URL, the one that encoding the whole message gives', () => {
  const text = fc.string({ unit: 'grapheme' });
  const message = (url: string, description: string): PaymentRequired => ({
    x402Version: 2,
    error: 'payment_required',
    resource: { url, description },
    accepts: [],
    extensions: { 'payment-identifier': { info: { required: false } } },
  });
  const plain = text.filter((one) => !one.includes('\u0001'));
  fc.assert(
    fc.property(text, plain, (url, description) => {
      assert.equal(
        prepareRequired(message('', description))(url),
        encodePaymentRequired(message(url, description)),
      );
    }),
  );
  const lone = 'https://api.example.com/\ud800';
  assert.equal(prepareRequired(message('', 'x'))(lone), encodePaymentRequired(message(lone, 'x')));
  assert.throws(() => prepareRequired(message('', '\u0001url\u0001')), TypeError);
});
