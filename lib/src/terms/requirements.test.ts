import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAsset, lookupAsset } from './assets.ts';
import type { PriceOf } from './price.ts';
import type { TermsOptions } from './requirements.ts';
import { buildRequirements, createQuote, defineTerms } from './requirements.ts';

const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const base: TermsOptions = { accepts: [{ network: 'eip155:8453', payTo }] };
const anvilDollar = defineAsset({
  network: 'eip155:31337',
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  decimals: 6,
  name: 'USD Coin',
  version: '2',
  dollar: true,
});

test('a price becomes one requirement with the domain of its asset and nothing else in extra', () => {
  assert.deepEqual(buildRequirements('$0.01', defineTerms(base)), [
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: 10_000n,
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo,
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    },
  ]);
});

test('several networks make several entries of one 402, in the order of the configuration', () => {
  const terms = defineTerms({
    accepts: [
      { network: 'eip155:31337', payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
      { network: 'eip155:84532', payTo },
    ],
    assets: [anvilDollar],
  });
  const built = buildRequirements('$0.25', terms);
  assert.deepEqual(
    built.map(({ network, payTo: paid, amount, extra }) => [network, paid, amount, extra.name]),
    [
      ['eip155:31337', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 250_000n, 'USD Coin'],
      ['eip155:84532', payTo, 250_000n, 'USDC'],
    ],
  );
});

test('the flow is named in extra exactly when it is not authorization', () => {
  const upfront = buildRequirements('$0.01', defineTerms({ ...base, flow: 'upfront' }));
  assert.deepEqual(upfront[0]?.extra, { name: 'USD Coin', version: '2', paymentFlow: 'upfront' });
  const authorization = buildRequirements('$0.01', defineTerms({ ...base, flow: 'authorization' }));
  assert.equal(Object.hasOwn(authorization[0]?.extra ?? {}, 'paymentFlow'), false);
});

test('an address in lower case is spelled with its check, so that every wallet takes it', () => {
  const terms = defineTerms({ accepts: [{ network: 'eip155:8453', payTo: payTo.toLowerCase() }] });
  assert.equal(buildRequirements('$1', terms)[0]?.payTo, payTo);
});

test('terms that cannot be asked stop the start with a sentence that names the mistake', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ accepts: [] }, /1 to 12 networks/],
    [{ accepts: undefined }, /1 to 12 networks/],
    [{ accepts: [{ network: 'eip155:8453', payTo: `0x${'0'.repeat(40)}` }] }, /zero address/],
    [
      { accepts: [{ network: 'eip155:8453', payTo: '0x209693bc6afc0C5328bA36FaF03C514EF312287C' }] },
      /EIP-55/,
    ],
    [{ accepts: [{ network: 'eip155:8453', payTo: 'merchant' }] }, /40 hex digits/],
    [{ accepts: [{ network: 'eip155:8453' }] }, /40 hex digits/],
    [{ accepts: [{ network: 'base', payTo }] }, /not served/],
    [{ accepts: [...base.accepts, ...base.accepts] }, /accepted twice/],
    [{ flow: 'escrow' }, /escrow/],
    [{ maxTimeoutSeconds: 0 }, /maxTimeoutSeconds/],
    [{ maxTimeoutSeconds: 1.5 }, /maxTimeoutSeconds/],
    [{ maxTimeoutSeconds: 86_401 }, /maxTimeoutSeconds/],
    [{ accepts: [{ network: 'eip155:8453', payTo, asset: 'USDC' }] }, /no member "asset"/],
    [{ maxTimeoutSecs: 60 }, /no option "maxTimeoutSecs"/],
  ];
  for (const [change, message] of wrong) {
    assert.throws(() => defineTerms({ ...base, ...change } as never), { name: 'TypeError', message });
  }
});

test('a fixed price that cannot be asked exactly stops the start', () => {
  const terms = defineTerms(base);
  const usdc = lookupAsset('eip155:8453', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913');
  assert.ok(usdc);
  const toItself = defineTerms({ accepts: [{ network: 'eip155:8453', payTo: usdc.address }] });
  assert.throws(() => buildRequirements('$0.0000001', terms), TypeError);
  assert.throws(() => buildRequirements({ asset: anvilDollar, amount: 1n }, terms), /not among the assets/);
  assert.throws(() => buildRequirements(['$0.01', { asset: usdc, amount: 9n }], terms), /two prices/);
  assert.throws(() => buildRequirements('$1', toItself), /the token itself/);
  assert.throws(() => createQuote('$0', terms), TypeError);
});

test('a fixed price is built once and its entries cannot be changed', async () => {
  const quote = createQuote<unknown>('$0.01', defineTerms(base));
  const [first, second] = [await quote({}), await quote({})];
  assert.equal(first, second);
  assert.ok(first.ok && Object.isFrozen(first.value) && Object.isFrozen(first.value[0]?.extra));
});

test('B11: the price function sees the parsed request itself, and its price is judged like a fixed one', async () => {
  const seen: unknown[] = [];
  const price: PriceOf<{ readonly model: string }> = (parsed) => {
    seen.push(parsed);
    return parsed.model === 'large' ? '$0.50' : '$0.05';
  };
  const quote = createQuote(price, defineTerms(base));
  const parsed = { model: 'large' };
  const answer = await quote(parsed);
  assert.equal(seen[0], parsed);
  assert.equal(answer.ok && answer.value[0]?.amount, 500_000n);
});

test('B11: a price function that throws or gives no price refuses its own request and invents no default', async () => {
  const faulty: readonly PriceOf<object>[] = [
    () => {
      throw new Error('unknown model');
    },
    () => Promise.reject(new Error('price list is down')),
    () => undefined as never,
    () => '$0',
    () => '$0.0000001',
    () => ({ asset: anvilDollar, amount: 5n }),
    () => [],
  ];
  for (const price of faulty) {
    const faults: unknown[] = [];
    const answer = await createQuote(price, defineTerms(base), (fault) => faults.push(fault))({});
    assert.deepEqual(answer, { ok: false, refusal: { code: 'price_unavailable' } });
    assert.equal(faults.length, 1, 'the operator is told');
    assert.ok(faults[0] instanceof Error);
  }
});
