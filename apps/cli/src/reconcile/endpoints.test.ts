import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Http, HttpResult } from 'counterfoil/world';
import { MisuseError } from '../io.ts';
import { endpointsOf, openChains } from './endpoints.ts';

test('an endpoint is a URL, with the network before it or without, and several may serve one network', () => {
  const texts = [
    'eip155:1=https://a.example.com/?k=v',
    'eip155:1=https://b.example.com',
    'http://127.0.0.1:1',
  ];
  assert.deepEqual(endpointsOf(texts), [
    { network: 'eip155:1', url: 'https://a.example.com/?k=v' },
    { network: 'eip155:1', url: 'https://b.example.com' },
    { url: 'http://127.0.0.1:1' },
  ]);
  const wrong = [
    ['x'],
    ['=https://a'],
    ['eip155:1=ftp://a'],
    ['eip155:1='],
    ['ftp://a.example.com'],
    ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp=https://a.example.com'],
    ['eip155:1=https://a', 'eip155:1=https://a'],
    ['eip155:1=https://a/v2', 'eip155:1=https://a/v2/'],
    ['eip155:1=https://a/?k=v', 'eip155:1=HTTPS://A:443?k=v#x'],
  ];
  for (const one of wrong) assert.throws(() => endpointsOf(one), MisuseError, one.join());
});

/** Nodes by origin that answer with the chain id they are given, and are down without one. */
function nodes(chainIds: Readonly<Record<string, number>>): { http: Http; asked: string[] } {
  const asked: string[] = [];
  const http: Http = async ({ url, body }): Promise<HttpResult> => {
    const { method } = JSON.parse(new TextDecoder().decode(body)) as { method: string };
    asked.push(`${new URL(url).origin} ${method}`);
    const chainId = chainIds[new URL(url).origin];
    if (chainId === undefined) return { ok: false, sent: false, why: 'connect' };
    const result = method === 'eth_chainId' ? `0x${chainId.toString(16)}` : '0x10';
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
    return { ok: true, status: 200, headers: new Map(), body: new TextEncoder().encode(text) };
  };
  return { http, asked };
}

const open = async (texts: readonly string[], http: Http, note: (line: string) => void = () => {}) =>
  openChains(endpointsOf(texts), { world: { http, monotonicMs: () => 0 }, note });

test('a URL alone is asked for its chain, and its reader serves that network', async () => {
  const { http } = nodes({ 'https://a.example.com': 8453 });
  const chains = await open(['https://a.example.com/key'], http);
  assert.ok(chains('eip155:8453'));
  assert.equal(chains('eip155:1'), undefined);
});

test('a URL that does not say its chain is told by its origin, without the key in it', async () => {
  const { http } = nodes({});
  await assert.rejects(open(['https://a.example.com/s3cret?key=s3cret'], http), (fault: Error) => {
    assert.ok(!(fault instanceof MisuseError));
    assert.match(fault.message, /https:\/\/a\.example\.com does not say which chain/);
    assert.doesNotMatch(fault.message, /s3cret/);
    return true;
  });
});

test('F10: an endpoint of another chain is named and is not asked about payments', async () => {
  const { http, asked } = nodes({
    'https://a.example.com': 1,
    'https://b.example.com': 1,
    'https://c.example.com': 10,
  });
  const lines: string[] = [];
  const texts = ['a', 'b', 'c'].map((name) => `eip155:1=https://${name}.example.com/s3cret`);
  const chains = await open(texts, http, (line) => lines.push(line));
  await chains('eip155:1')?.fate({
    asset: `0x${'aa'.repeat(20)}`,
    payer: `0x${'bb'.repeat(20)}`,
    nonce: `0x${'cc'.repeat(32)}`,
    payTo: `0x${'dd'.repeat(20)}`,
    amount: 1n,
    validBeforeMs: 1,
  });
  assert.ok(
    lines.some((line) => /^eip155:1: https:\/\/c\.example\.com serves another chain/.test(line)),
    lines.join(),
  );
  assert.ok(!lines.join().includes('s3cret'));
  assert.deepEqual(
    asked.filter((line) => line.startsWith('https://c') && !line.endsWith('eth_chainId')),
    [],
  );
});

test('more endpoints than a look-up would ask are wrong use', async () => {
  const texts = Array.from({ length: 20 }, (_, index) => `eip155:1=https://n${index}.example.com`);
  await assert.rejects(open(texts, nodes({}).http), MisuseError);
});
