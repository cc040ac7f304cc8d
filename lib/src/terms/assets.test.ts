import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_ASSETS } from '@x402/evm';
import { usdc } from 'viem/tokens';
import { domainSeparator } from '../crypto/eip712.ts';
import { encodeHex } from '../wire/hex.ts';
import { createAssetTable, defineAsset, lookupAsset, wellKnownAssets } from './assets.ts';

/** DOMAIN_SEPARATOR() of each token as read on its chain by others; only the right name and version make it. */
const separatorsOnChain: ReadonlyMap<string, string> = new Map([
  ['eip155:1', '0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335'],
  ['eip155:10', '0x26d9c34bb1a1c312f69c53b2d93b8be20faafba63af2438c6811713c9b1f933f'],
  ['eip155:130', '0x565b4c4095d739dada6adeb9a89bc6dc4d102500ebd4a88bef1ec1d0f69d83b8'],
  ['eip155:137', '0xcaa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca'],
  ['eip155:143', '0xfe22123edc0dd4aeb912eb7948c5f0e531592c2053b3067612f427db342c93c6'],
  ['eip155:146', '0x47ff53f4cb866f027068ac56dedd98f6818c3ea4f1f60a1850d746944543ac12'],
  ['eip155:480', '0x936533d5f85622a8261854e20bb87f4e849dde486f429bc1fb66202b7cde09ec'],
  ['eip155:999', '0x70a72998ad787d1a9152a8f88ccfe0766b1cb293b6b4011b34523035da10b0a3'],
  ['eip155:1329', '0x0a19136106ae98d2c245cbbd451f3cb2bbbb1670e1ee191abacb5a5e255c0255'],
  ['eip155:8453', '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f'],
  ['eip155:42161', '0x08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78'],
  ['eip155:42220', '0xb2ce31d2838445fa765a491f550e7c78ac7280ab0f3bc9d6063a86df9c3fb578'],
  ['eip155:43114', '0xbbea200329a938bc3438984a49cb0732e66d66d7bd59c127abacc1710e77f7b3'],
  ['eip155:43113', '0xfe9fa105a0e9629446730e544caa6b8d05d8d4fc93451750dc50e2ddd6d374b3'],
  ['eip155:80002', '0x5cddc98319864e897e4469bd1d13c2288c677047b54b8cca12bd342adb6be9eb'],
  ['eip155:84532', '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818'],
  ['eip155:421614', '0x85944e1292d007732838d6eadfa67589b78ffcededbd4df60488d0af251308bb'],
  ['eip155:11155111', '0xb90e5057db141a932946e64d09ccb7ffc9b00bd79fec26f698d29af0c83320a6'],
  ['eip155:11155420', '0x09d038a3e46040fc37eb01174dbbcdb7981fbd8eafd9e1a857b1c67805dfb29e'],
]);

const anvilDollar = {
  network: 'eip155:31337',
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  decimals: 6,
  name: 'USD Coin',
  version: '2',
  dollar: true,
};

test('G03: every well-known domain is the one its token reports on chain', () => {
  let compared = 0;
  for (const asset of wellKnownAssets) {
    const expected = separatorsOnChain.get(asset.network);
    if (expected === undefined) continue;
    assert.equal(encodeHex(domainSeparator(asset.domain)), expected, asset.network);
    compared += 1;
  }
  assert.equal(compared, separatorsOnChain.size);
});

test('a well-known asset that the official package also knows has the same address, decimals, name and version', () => {
  const shared = wellKnownAssets.filter((asset) => DEFAULT_ASSETS[asset.network] !== undefined);
  assert.equal(shared.length, 12);
  for (const asset of shared) {
    const official = DEFAULT_ASSETS[asset.network]?.find((entry) => entry.symbol === asset.symbol);
    assert.ok(official, asset.network);
    assert.deepEqual(
      [asset.address.toLowerCase(), asset.decimals, asset.domain.name, asset.domain.version],
      [official.asset.toLowerCase(), official.decimals, official.name, official.version],
    );
    assert.equal(official.assetTransferMethod, undefined, 'the official package pays it with EIP-3009');
  }
});

test('every well-known address stands in the token list of viem, and every row has a source for its name', () => {
  const byChain = new Map(
    Object.entries(usdc.addresses).map(([chain, address]) => [`eip155:${chain}`, address]),
  );
  for (const asset of wellKnownAssets) {
    assert.equal(byChain.get(asset.network)?.toLowerCase(), asset.address.toLowerCase(), asset.network);
    const sources = [separatorsOnChain.get(asset.network), DEFAULT_ASSETS[asset.network]];
    assert.ok(
      sources.some((source) => source !== undefined),
      `${asset.network} has no source`,
    );
  }
});

test('an asset is found by its address in any letter case and on its own network only', () => {
  const base = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
  assert.equal(lookupAsset('eip155:8453', base.toLowerCase())?.symbol, 'USDC');
  assert.equal(lookupAsset('eip155:8453', base)?.domain.name, 'USD Coin');
  assert.equal(lookupAsset('eip155:1', base), undefined);
});

test("a seller's own dollar comes before the well-known one of that network", () => {
  const own = defineAsset({ ...anvilDollar, network: 'eip155:8453', symbol: 'OWN' });
  const table = createAssetTable([own]);
  assert.equal(table.dollar('eip155:8453'), own);
  assert.equal(table.lookup('eip155:8453', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')?.symbol, 'USDC');
  assert.equal(createAssetTable().dollar('eip155:31337'), undefined);
  assert.throws(() => createAssetTable([own, own]), /defined twice/);
});

test('a token is no dollar unless its seller says so', () => {
  const { dollar: _, ...rest } = anvilDollar;
  assert.equal(createAssetTable([defineAsset(rest)]).dollar('eip155:31337'), undefined);
});

test('G03: an asset without its EIP-712 name or version stops the start with a sentence that says so', () => {
  for (const member of ['name', 'version']) {
    for (const bad of ['', undefined, 2, '\ud800']) {
      assert.throws(() => defineAsset({ ...anvilDollar, [member]: bad } as never), {
        name: 'TypeError',
        message: /EIP-712 domain/,
      });
    }
  }
});

test('an impossible asset stops the start', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ network: 'base' }, /eip155/],
    [{ network: 'eip155:08453' }, /eip155/],
    [{ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }, /eip155/],
    [{ address: '0x00' }, /40 hex digits/],
    [{ address: `0x${'0'.repeat(40)}` }, /zero address/],
    [{ address: '0x5FbDB2315678afecb367f032d93F642f64180aA3' }, /EIP-55/],
    [{ decimals: 6.5 }, /decimals/],
    [{ decimals: 37 }, /decimals/],
    [{ decimals: -1 }, /decimals/],
    [{ color: 'green' }, /no member "color"/],
  ];
  for (const [change, message] of wrong) {
    assert.throws(() => defineAsset({ ...anvilDollar, ...change } as never), { name: 'TypeError', message });
  }
});
