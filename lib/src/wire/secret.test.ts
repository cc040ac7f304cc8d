import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hushed } from './secret.ts';

const typed = [
  ['84532=https://eth.example/v2/SECRETKEY', '84532=https://eth.example/…'],
  ['wss://eth.example/v2/SECRETKEY', 'wss://eth.example/…'],
  ['There is no file redis:/:SECRET@h/0.', 'There is no file redis:/h/…'],
  ['postgres:u:SECRET@h/x', 'postgres:h/…'],
  ['got 1: postgres://u:SECRET@h:5432/x?p=SECRET', 'got 1: postgres://h:5432/…'],
  ['redis://:SEC@SECRET@h', 'redis://h/…'],
  ['https://eth.example?k=a@SECRET', 'https://…'],
  ['https://eth.example/v2/a@SECRET', 'https://…'],
  ['postgres://u:SEC/SECRET@h/x', 'postgres://…'],
  ['postgres://u:SEC RET"SECRET@h/x', 'postgres://h/…'],
  ['postgres://u:SECRET', 'postgres://…'],
  ['got 2: postgres://u:SECRET@h/x, redis:/:SECRET@h/0.', 'got 2: postgres://…'],
  ['mysql://u:SECRET@h/x', 'mysql://h/…'],
  ['eip155:1=wss://u:SECRET@h', 'eip155:…'],
  ['u:SECRET@h', 'u:h/…'],
  ['https://[::1]:8545/SECRET', 'https://[::1]:8545/…'],
] as const;
for (const [text, shown] of typed) {
  test(`H13: only scheme and host of an address are repeated: ${text}`, () => {
    assert.equal(hushed(text), shown);
    assert.equal(hushed(shown), shown, 'hushed again');
  });
}

test('H13: what is no address, or nothing but a host, is repeated as it is', () => {
  for (const text of [
    '',
    'https://rpc.example',
    'eip155:8453 and C:/claims.sqlite',
    '/srv/shop@home/claims.sqlite',
    'a file, postgres://… or redis://…, not x',
    'error: unknown command',
  ])
    assert.equal(hushed(text), text);
});

test('H13: an endless text is cut before it is searched', () => {
  assert.ok(hushed('a:'.repeat(500_000)).length < 10_000);
  assert.equal(hushed(`postgres:u:${'SECRET'.repeat(10_000)}@h`), 'postgres:…');
});
