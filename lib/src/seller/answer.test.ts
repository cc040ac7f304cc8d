import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../test/rig.ts';
import { openTestShop } from '../../test/shop.ts';
import { type ProblemCode, problems } from '../problem.ts';
import { paidAnswer, problemAnswer, unpaidAnswer } from './answer.ts';

const headersOf = (answer: { readonly headers: readonly (readonly [string, string])[] }) =>
  new Map(answer.headers);

test('H14: every refusal is a problem document with a code, what is known of the money, and what may be retried', () => {
  for (const code of Object.keys(problems) as ProblemCode[]) {
    const answer = problemAnswer({ code });
    const body = JSON.parse(new TextDecoder().decode(answer.body));
    assert.equal(answer.status, problems[code].status);
    assert.deepEqual(
      [body.code, body.money, body.retry, body.status],
      [code, problems[code].money, problems[code].retry, answer.status],
    );
    assert.equal(headersOf(answer).get('content-type'), 'application/problem+json');
    assert.equal(headersOf(answer).get('cache-control'), 'no-store');
    assert.doesNotMatch(body.title, /Error|\bat [A-Za-z]+ \(|\.ts/);
  }
});

test('a new payment is only ever invited while the presented one is known not to have moved', () => {
  for (const [code, row] of Object.entries(problems)) {
    if (row.retry === 'new_payment') assert.equal(row.money, 'unmoved', code);
    if (row.money === 'unknown') assert.ok(row.retry === 'same_payment' || row.retry === 'later', code);
  }
});

test('H06: paid answers are private and never stored, whatever the handler says about caches', () => {
  const handler = answerOf('sunny', 200, [
    ['cache-control', 'public, s-maxage=600'],
    ['expires', 'Thu, 01 Jan 2099 00:00:00 GMT'],
    ['surrogate-control', 'max-age=600'],
    ['cdn-cache-control', 'max-age=600'],
    ['x-accel-expires', '600'],
    ['vary', 'Accept'],
    ['x-unit', 'celsius'],
  ]);
  for (const answer of [paidAnswer(handler, {}), unpaidAnswer(handler)]) {
    const headers = headersOf(answer);
    assert.match(headers.get('cache-control') ?? '', /no-store/);
    for (const name of ['expires', 'surrogate-control', 'cdn-cache-control'])
      assert.equal(headers.get(name), undefined);
    assert.equal(headers.get('x-accel-expires'), '0');
    assert.equal(headers.get('vary'), 'Accept, PAYMENT-SIGNATURE');
    assert.equal(headers.get('x-unit'), 'celsius');
  }
  assert.equal(headersOf(paidAnswer(handler, {})).get('cache-control'), 'private, no-store, no-transform');
});

test('a handler cannot forge our own headers', () => {
  const answer = paidAnswer(
    answerOf('x', 200, [
      ['payment-response', 'forged'],
      ['payment-required', 'forged'],
    ]),
    {},
  );
  assert.deepEqual(
    answer.headers.filter(([name]) => name.startsWith('payment-')),
    [],
  );
});

test('H06: no answer of a priced route may be stored: unpaid, refused, failed or paid', async () => {
  const shop = openTestShop();
  const payment = await shop.payment();
  const all = [
    await shop.ask(),
    await shop.ask({ payment: 'e30=' }),
    await shop.ask({ payment }),
    await shop.ask({ payment, target: '/x' }),
  ];
  for (const seen of all) assert.match(seen.header('cache-control') ?? '', /no-store/);
});
