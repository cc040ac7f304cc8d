import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, read, requestOf } from '../../test/rig.ts';
import { type CorsOptions, createCors, preflightFields, withCors } from './cors.ts';
import type { HeaderList } from './message.ts';

const page = 'https://app.example.com';
const from = (origin: string): HeaderList => [['origin', origin]];

test('H02: without a list no page of another origin may read anything', () => {
  assert.deepEqual(createCors().fieldsFor(from(page)), []);
  assert.deepEqual(createCors({ origins: [] }).fieldsFor(from(page)), []);
});

test('H02: a listed origin is named, another is not, and caches are told to tell them apart', () => {
  const cors = createCors({ origins: [page] });
  assert.deepEqual(cors.fieldsFor(from(page)), [
    ['access-control-allow-origin', page],
    ['vary', 'Origin'],
  ]);
  for (const origin of [
    'https://app.example.com.evil.example',
    'https://APP.example.com',
    'null',
    `${page}/`,
  ]) {
    assert.deepEqual(cors.fieldsFor(from(origin)), [['vary', 'Origin']]);
  }
  assert.deepEqual(cors.fieldsFor([]), [['vary', 'Origin']]);
  assert.deepEqual(createCors({ origins: '*' }).fieldsFor(from(page)), [
    ['access-control-allow-origin', '*'],
  ]);
});

test('a mistake in the option is a TypeError', () => {
  const wrong: readonly unknown[] = [
    { origins: ['app.example.com'] },
    { origins: [`${page}/`] },
    { origins: '*', maxAgeSeconds: -1 },
    { origins: '*', maxAgeSeconds: 1.5 },
    { origins: '*', credentials: true },
  ];
  for (const options of wrong) assert.throws(() => createCors(options as CorsOptions), TypeError);
});

test('H02: a preflight allows the payment and what was asked for, as far as those are names', () => {
  const cors = createCors({ origins: '*', maxAgeSeconds: 60 });
  const allowed = (asked: string): string | undefined =>
    preflightFields(cors, 'POST', [['access-control-request-headers', asked]]).find(
      ([name]) => name === 'access-control-allow-headers',
    )?.[1];
  assert.equal(allowed('content-type, X-Trace'), 'PAYMENT-SIGNATURE, content-type, x-trace');
  assert.equal(allowed('payment-signature'), 'PAYMENT-SIGNATURE');
  assert.equal(allowed('a\r\nb, <script>, *'), 'PAYMENT-SIGNATURE');
  assert.equal(allowed('x'.repeat(2000)), 'PAYMENT-SIGNATURE');
  assert.deepEqual(preflightFields(cors, 'POST', [])[0], ['access-control-allow-methods', 'POST']);
});

test('an answer gets its fields once, and what a handler allowed by itself gives way', () => {
  const answer = answerOf('sunny', 200, [
    ['access-control-allow-origin', '*'],
    ['vary', 'PAYMENT-SIGNATURE'],
  ]);
  const { headers } = withCors(answer, createCors({ origins: [page] }).fieldsFor(from(page)));
  assert.deepEqual(
    headers.filter(([name]) => name !== 'content-type'),
    [
      ['vary', 'PAYMENT-SIGNATURE, Origin'],
      ['access-control-allow-origin', page],
    ],
  );
  assert.equal(withCors(answer, []), answer);
});

test('H02: a preflight is answered without the handler, a payment or a price', async () => {
  for (const cors of [undefined, { origins: [page] }]) {
    const rig = createRig(cors === undefined ? {} : { cors });
    const route = rig.seller.route({ method: 'POST', path: '/chat', price: '$0.01' });
    const headers: HeaderList = [...from(page), ['access-control-request-method', 'POST']];
    const request = requestOf({ method: 'OPTIONS', target: '/chat', headers });
    const seen = await read(rig.seller.charge(route, request, () => assert.fail('the handler ran')));
    assert.equal(seen.status, 204);
    assert.equal(seen.header('payment-required'), undefined);
    assert.equal(seen.header('access-control-allow-origin'), cors === undefined ? undefined : page);
    assert.match(seen.header('access-control-allow-headers') ?? '', /PAYMENT-SIGNATURE/);
    assert.match(seen.header('access-control-expose-headers') ?? '', /PAYMENT-REQUIRED, PAYMENT-RESPONSE/);
    const asked = requestOf({ method: 'POST', target: '/chat', headers: from(page) });
    const unpaid = await read(rig.seller.charge(route, asked, () => assert.fail('the handler ran')));
    assert.equal(unpaid.header('access-control-allow-origin'), cors === undefined ? undefined : page);
  }
});
