import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Devnet, startDevnet } from './devnet.ts';
import { type FaultMode, type FaultyFacilitator, startFaultyFacilitator } from './fault.ts';
import { requirementsFor, signPayment } from './payment.ts';
import type { PaymentRequest } from './request.ts';
import type { FaultName } from './spoil.ts';

/** What a seller sees of one call: a status with its body, or that the connection failed. */
type Seen = { readonly status: number; readonly body: string } | { readonly failed: true };

describe('a facilitator that breaks on purpose', () => {
  let devnet: Devnet;
  let rig: FaultyFacilitator;

  before(async () => {
    devnet = await startDevnet();
    rig = await startFaultyFacilitator({ upstream: devnet.facilitatorUrl });
  });
  after(async () => {
    await rig.close();
    await devnet.stop();
  });
  afterEach(async () => {
    await rig.setReachable(true);
    rig.setMode('pass');
    rig.setVerifyMode('pass');
    rig.clear();
  });

  const sign = (): Promise<PaymentRequest> => signPayment(devnet.signer(0), requirementsFor(devnet, 10n));
  const post = async (path: string, body: unknown, signal?: AbortSignal): Promise<Seen> => {
    try {
      const response = await fetch(`${rig.url}${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      });
      return { status: response.status, body: await response.text() };
    } catch {
      return { failed: true };
    }
  };
  const isUsed = (payment: PaymentRequest): Promise<boolean> =>
    devnet.chain.authorizationState(
      devnet.signer(0).address,
      (payment.paymentPayload.payload.authorization as { nonce: `0x${string}` }).nonce,
    );
  const settleUnder = async (mode: FaultMode): Promise<{ seen: Seen; used: boolean }> => {
    rig.setMode(mode);
    const payment = await sign();
    const seen = await post('/settle', payment);
    return { seen, used: await isUsed(payment) };
  };

  test('without a fault every answer is the real one', async () => {
    const payment = await sign();
    const supported = await (await fetch(`${rig.url}/supported`)).json();
    assert.deepEqual(supported, devnet.facilitator.getSupported());
    const verified = await post('/verify', payment);
    assert.ok('body' in verified && JSON.parse(verified.body).isValid === true);
    const settled = await post('/settle', payment);
    assert.ok('body' in settled && JSON.parse(settled.body).success === true);
    assert.deepEqual(rig.counts(), { supported: 1, verify: 1, settle: 1, landed: 1 });
    assert.deepEqual(rig.calls('settle')[0]?.body, JSON.parse(JSON.stringify(payment)));
  });

  const cases: readonly (readonly [FaultName, boolean, (seen: Seen) => boolean])[] = [
    ['land_then_502', true, (seen) => 'status' in seen && seen.status === 502],
    ['land_then_504', true, (seen) => 'status' in seen && seen.status === 504],
    ['land_then_reset', true, (seen) => 'failed' in seen],
    ['land_then_cut', true, (seen) => 'failed' in seen],
    ['land_then_unended', true, (seen) => 'failed' in seen],
    ['land_twice', true, (seen) => 'body' in seen && JSON.parse(seen.body).success === false],
    ['land_then_truncated', true, (seen) => 'body' in seen && seen.status === 200 && !isJson(seen.body)],
    ['land_then_refused', true, (seen) => 'body' in seen && JSON.parse(seen.body).success === false],
    ['refused', false, (seen) => 'body' in seen && JSON.parse(seen.body).success === false],
    ['unavailable', false, (seen) => 'status' in seen && seen.status === 503],
    ['reset', false, (seen) => 'failed' in seen],
  ];
  for (const [name, lands, looksRight] of cases) {
    test(`${name}: the money ${lands ? 'moves' : 'stays'} and the seller does not get the real answer`, async () => {
      const { seen, used } = await settleUnder(name);
      assert.ok(looksRight(seen), JSON.stringify(seen));
      assert.equal(used, lands);
      assert.equal(rig.counts().landed, lands ? 1 : 0);
    });
  }

  test('land_then_hang: the money moves and nothing is answered until somebody gives up', async () => {
    for (const by of ['the caller', 'the rig'] as const) {
      rig.setMode(
        by === 'the caller' ? 'land_then_hang' : { forward: true, answer: { kind: 'hang', forMs: 30 } },
      );
      const payment = await sign();
      const giveUp = new AbortController();
      const call = post('/settle', payment, giveUp.signal);
      await rig.landed(by === 'the caller' ? 1 : 2);
      if (by === 'the caller') giveUp.abort();
      assert.deepEqual(await call, { failed: true });
      assert.equal(await isUsed(payment), true);
    }
  });

  test('hang: nothing moves and nothing is answered, until the rig is closed', async () => {
    const other = await startFaultyFacilitator({ upstream: devnet.facilitatorUrl, mode: 'hang' });
    const payment = await sign();
    const call = fetch(`${other.url}/settle`, { method: 'POST', body: JSON.stringify(payment) });
    await other.arrived(1);
    await Promise.all([assert.rejects(call), other.close()]);
    assert.equal(await isUsed(payment), false);
  });

  test('a list gives each settle its own fault and passes after its end', async () => {
    rig.setMode(['land_then_502', 'unavailable']);
    const statuses: unknown[] = [];
    for (let i = 0; i < 3; i += 1) {
      const seen = await post('/settle', await sign());
      statuses.push('status' in seen ? seen.status : 'failed');
    }
    assert.deepEqual(statuses, [502, 503, 200]);
    assert.deepEqual(rig.counts(), { supported: 0, verify: 0, settle: 3, landed: 2 });
  });

  test('a function chooses by the call, and verify has a mode of its own', async () => {
    rig.setMode(({ index }) => (index === 1 ? 'refused' : 'pass'));
    rig.setVerifyMode(['unavailable', 'refused']);
    const payment = await sign();
    const verified = [await post('/verify', payment), await post('/verify', payment)];
    assert.deepEqual(
      verified.map((seen) => ('status' in seen ? seen.status : 'failed')),
      [503, 200],
    );
    assert.ok(verified[1] !== undefined && 'body' in verified[1]);
    assert.equal(JSON.parse(verified[1].body).isValid, false);
    const first = await post('/settle', payment);
    const second = await post('/settle', payment);
    assert.ok('body' in first && JSON.parse(first.body).success === true);
    assert.ok(
      'body' in second && JSON.parse(second.body).errorReason === 'invalid_exact_evm_insufficient_balance',
    );
  });

  test('a delay before or after the payment lands changes nothing else', async () => {
    const answer = { kind: 'upstream' } as const;
    for (const delay of [{ beforeMs: 20 }, { afterMs: 20 }]) {
      const { seen, used } = await settleUnder({ forward: true, answer, ...delay });
      assert.ok('body' in seen && JSON.parse(seen.body).success === true);
      assert.equal(used, true);
    }
  });

  test('unreachable means that no connection is accepted, and then it can be reached again', async () => {
    const payment = await sign();
    await rig.setReachable(false);
    await rig.setReachable(false);
    await assert.rejects(fetch(`${rig.url}/supported`), (error: unknown) => {
      assert.ok(error instanceof Error && error.cause instanceof Error && 'code' in error.cause);
      assert.equal(error.cause.code, 'ECONNREFUSED');
      return true;
    });
    assert.equal(rig.counts().settle, 0);
    await rig.setReachable(true);
    const seen = await post('/settle', payment);
    assert.ok('body' in seen && JSON.parse(seen.body).success === true);
  });

  test('a payment that was sent lands although the seller is gone', async () => {
    rig.setMode({ forward: true, beforeMs: 20, answer: { kind: 'upstream' } });
    const payment = await sign();
    const gone = new AbortController();
    const call = post('/settle', payment, gone.signal);
    await rig.arrived(1);
    gone.abort();
    assert.deepEqual(await call, { failed: true });
    await rig.landed(1);
    assert.equal(await isUsed(payment), true);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
