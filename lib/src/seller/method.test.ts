import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestShop } from '../../test/shop.ts';
import { checkMethod, refuseMethod } from './method.ts';

const get = { method: 'GET' };

function said(
  route: { readonly method: string },
  method: string,
  headers: readonly [string, string][] = [],
): string {
  const verdict = checkMethod(route, { method, headers });
  return verdict.ok ? verdict.value : `${verdict.refusal.code} ${verdict.refusal.retry ?? '-'}`;
}

test('B05, H01: only its own method buys a route, and HEAD asks a GET route for its terms', () => {
  assert.equal(said(get, 'GET'), 'buys');
  assert.equal(said(get, 'HEAD'), 'asks');
  assert.equal(said({ method: 'POST' }, 'HEAD'), 'method_not_allowed never');
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'QUERY', 'get', 'TRACE', '']) {
    assert.equal(said(get, method), 'method_not_allowed never', method);
  }
});

test('H01: a payment that comes with another method is not looked at, so nothing is said of its money', () => {
  for (const header of ['payment-signature', 'x-payment']) {
    assert.equal(said(get, 'HEAD', [[header, 'x']]), 'method_not_allowed -');
    assert.equal(said(get, 'POST', [[header, 'x']]), 'method_not_allowed -');
  }
});

test('H03: a request that names another method in a header is refused; one that was overridden before the gate is not', () => {
  for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
    assert.equal(said(get, 'GET', [[header, 'DELETE']]), 'request_malformed -');
    assert.equal(said({ method: 'DELETE' }, 'POST', [[header, 'DELETE']]), 'request_malformed -');
    assert.equal(said({ method: 'DELETE' }, 'DELETE', [[header, ' delete ']]), 'buys');
  }
});

test('H03: an override that names the request’s own method hides no other behind it', () => {
  for (const second of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
    const headers: [string, string][] = [
      ['x-http-method-override', 'GET'],
      [second, 'DELETE'],
    ];
    assert.equal(said(get, 'GET', headers), 'request_malformed -');
    assert.equal(said(get, 'GET', [...headers].reverse()), 'request_malformed -');
  }
});

test('a refused method is told which there are', () => {
  const allow = (method: string): string | undefined =>
    refuseMethod({ method }, { code: 'method_not_allowed' }).headers.find(([name]) => name === 'allow')?.[1];
  assert.equal(allow('GET'), 'GET, HEAD, OPTIONS');
  assert.equal(allow('POST'), 'POST, OPTIONS');
  assert.equal(
    refuseMethod(get, { code: 'request_malformed' }).headers.find(([name]) => name === 'allow'),
    undefined,
  );
});

test('H01: fifty HEADs run nothing, cost nothing and show the terms', async () => {
  const shop = openTestShop();
  for (let n = 0; n < 50; n += 1) {
    const seen = await shop.ask({ method: 'HEAD' });
    assert.equal(seen.status, 402);
    assert.ok(seen.required);
  }
  const paid = await shop.ask({ method: 'HEAD', payment: await shop.payment() });
  assert.deepEqual([paid.status, paid.problem.code], [405, 'method_not_allowed']);
  assert.equal(shop.runs(), 0);
  assert.equal(shop.rig.calls.settle, 0);
});
