import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { recoverAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createDigestSigner, publicKeyToAddress, recoverNoble, splitSignature } from './secp256k1.ts';

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
/** Any 32 octets below the order but not zero; forcing the first octet keeps them there. */
const secretKey = bytes32.map((bytes) => Uint8Array.of(1, ...bytes.subarray(1)));

function word(value: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex'));
}

function hex(bytes: Uint8Array): `0x${string}` {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

async function sample(): Promise<{ digest: Uint8Array; signature: Uint8Array; address: string }> {
  const signer = createDigestSigner(new Uint8Array(32).fill(7));
  const digest = new Uint8Array(32).fill(9);
  return { digest, signature: await signer.signDigest(digest), address: signer.address };
}

test('our signatures are those of viem, and are recovered to the signer', async () => {
  await fc.assert(
    fc.asyncProperty(secretKey, bytes32, async (key, digest) => {
      const account = privateKeyToAccount(hex(key));
      const signer = createDigestSigner(key);
      const signature = await signer.signDigest(digest);
      assert.equal(signer.address, account.address.toLowerCase());
      assert.equal(hex(signature), await account.sign({ hash: hex(digest) }));
      const parts = splitSignature(signature);
      assert.ok(parts.ok);
      const publicKey = recoverNoble({ digest, signature: parts.compact, recovery: parts.recovery });
      assert.ok(publicKey);
      assert.equal(publicKeyToAddress(publicKey), signer.address);
    }),
    { numRuns: 15 },
  );
});

test('octets that no key made recover in viem and here to the same stranger, or to nobody', async () => {
  await fc.assert(
    fc.asyncProperty(bytes32, bytes32, bytes32, fc.constantFrom(0, 1), async (digest, r, s, recovery) => {
      const low = Uint8Array.of(1, ...s.subarray(1));
      const publicKey = recoverNoble({ digest, signature: Uint8Array.of(...r, ...low), recovery });
      const signature = hex(Uint8Array.of(...r, ...low, 27 + recovery));
      const expected = await recoverAddress({ hash: hex(digest), signature }).catch(() => undefined);
      assert.equal(publicKey && publicKeyToAddress(publicKey), expected?.toLowerCase());
    }),
    { numRuns: 15 },
  );
});

test('G01: a signature with a high s is refused although it recovers to the signer', async () => {
  const { digest, signature, address } = await sample();
  const s = BigInt(hex(signature.subarray(32, 64)));
  const twin = Uint8Array.of(
    ...signature.subarray(0, 32),
    ...word(curveOrder - s),
    signature[64] === 27 ? 28 : 27,
  );
  assert.equal(
    (await recoverAddress({ hash: hex(digest), signature: hex(twin) })).toLowerCase(),
    address,
    'viem takes it',
  );
  assert.deepEqual(splitSignature(twin), { ok: false, fault: 'high_s' });
});

test('G01: the last octet is 27 or 28 and nothing that libraries also read as such', async () => {
  const { signature } = await sample();
  for (let v = 0; v < 256; v++) {
    const changed = Uint8Array.of(...signature.subarray(0, 64), v);
    assert.equal(splitSignature(changed).ok, v === 27 || v === 28, `v = ${v}`);
  }
});

test('G01: a compact signature of 64 octets, and any other length, is no signature of a plain account', async () => {
  const { signature } = await sample();
  for (const length of [0, 1, 64]) {
    assert.deepEqual(splitSignature(signature.subarray(0, length)), { ok: false, fault: 'length' });
  }
  assert.deepEqual(splitSignature(Uint8Array.of(...signature, 0)), { ok: false, fault: 'length' });
});

test('G01: r and s lie between one and the order of the curve, and the half order itself is still low', () => {
  const build = (r: bigint, s: bigint): Uint8Array => Uint8Array.of(...word(r), ...word(s), 27);
  for (const [r, s] of [
    [0n, 1n],
    [1n, 0n],
    [curveOrder, 1n],
    [1n, curveOrder],
    [2n ** 256n - 1n, 1n],
  ] as const) {
    assert.deepEqual(splitSignature(build(r, s)), { ok: false, fault: 'scalar_range' });
  }
  assert.equal(splitSignature(build(1n, curveOrder / 2n)).ok, true);
  assert.deepEqual(splitSignature(build(1n, curveOrder / 2n + 1n)), { ok: false, fault: 'high_s' });
});

test('recovery of wrong lengths gives nobody', () => {
  const digest = new Uint8Array(32);
  assert.equal(
    recoverNoble({ digest: digest.subarray(1), signature: new Uint8Array(64), recovery: 0 }),
    undefined,
  );
  assert.equal(recoverNoble({ digest, signature: new Uint8Array(65), recovery: 0 }), undefined);
  assert.equal(recoverNoble({ digest, signature: new Uint8Array(64), recovery: 0 }), undefined);
  assert.throws(() => publicKeyToAddress(new Uint8Array(65)), TypeError);
});
