import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Http } from '../world.ts';
import { createChainReader } from './chain.ts';
import { createRpcPool } from './pool.ts';
import { createRpc } from './rpc.ts';

const http: Http = async () => ({ ok: false, why: 'refused', sent: 'no' }) as never;
const pool = {
  network: 'eip155:8453',
  endpoints: [{ url: 'https://a.example' }],
  http,
  monotonicMs: () => 0,
};

function endpoints(...urls: readonly string[]): object {
  return { endpoints: urls.map((url) => ({ url })) };
}

test('F10: one server that is named twice, however it is spelt, is no second witness', () => {
  const spellings = [
    'HTTPS://A.example',
    'https://a.example:443/',
    'https://a.example/#b',
    'https://a.example//',
  ];
  for (const spelling of spellings) {
    const twice = { ...pool, ...endpoints('https://a.example', spelling) };
    assert.throws(() => createRpcPool(twice as never), /endpoints name one server twice/, spelling);
  }
  for (const other of ['https://a.example/key', 'http://a.example', 'https://a.example?key=2']) {
    createRpcPool({ ...pool, ...endpoints('https://a.example', other) } as never);
  }
});

const poolMistakes: readonly (readonly [RegExp, object])[] = [
  [/endpoints\[0\] has no option "headrs"/, { endpoints: [{ url: 'https://a.example', headrs: {} }] }],
  [/endpoints\[0\]\.headers/, { endpoints: [{ url: 'https://a.example', headers: 'k' }] }],
  [/endpoints\[0\]\.headers/, { endpoints: [{ url: 'https://a.example', headers: { k: 1 } }] }],
  [/endpoints\[0\]\.url/, { endpoints: [{ url: 'ws://a.example' }] }],
  [/endpoints\[0\]/, { endpoints: ['https://a.example'] }],
  [/endpoints/, { endpoints: undefined }],
  [/http/, { http: undefined }],
  [/monotonicMs/, { monotonicMs: 5 }],
  [/observe/, { observe: 'log' }],
  [/quorum/, { quorum: null }],
  [/network/, { network: undefined }],
  ...[0, 1.5, -1, 60_001, '5', null].map((timeoutMs) => [/timeoutMs/, { timeoutMs }] as const),
];

test('a mistake in the options of a pool is told when it is made, and by its name', () => {
  for (const [name, change] of poolMistakes) {
    assert.throws(
      () => createRpcPool({ ...pool, ...change } as never),
      (fault) => fault instanceof TypeError && name.test(fault.message),
      JSON.stringify(change),
    );
  }
  assert.throws(() => createRpcPool(undefined as never), /createRpcPool needs/);
});

test('a mistake in the options of one endpoint is told when it is made, and by its name', () => {
  const url = 'https://a.example';
  const mistakes: readonly (readonly [RegExp, unknown])[] = [
    [/createRpc needs/, undefined],
    [/createRpc needs/, url],
    [/"timeout"/, { url, http, timeout: 5 }],
    [/http must be a function/, { url }],
    [/timeoutMs/, { url, http, timeoutMs: 0 }],
    [/headers/, { url, http, headers: null }],
  ];
  for (const [name, options] of mistakes) {
    assert.throws(
      () => createRpc(options as never),
      (fault) => fault instanceof TypeError && name.test(fault.message),
    );
  }
});

test('a reader needs a function to ask with, and takes nothing else', () => {
  const reader: (...parts: readonly never[]) => unknown = createChainReader;
  for (const parts of [
    [],
    ['https://a.example'],
    [{ url: 'https://a.example', http }],
    [async () => {}, {}],
  ]) {
    assert.throws(() => reader(...(parts as never[])), TypeError);
  }
});
