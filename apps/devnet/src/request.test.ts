import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { deriveAccounts } from './accounts.ts';
import { signerOf } from './chain.ts';
import { requirementsFor, signPayment } from './payment.ts';
import { NETWORK, type PaymentRequest, parseRequest } from './request.ts';

describe('what a seller may post', () => {
  let good: PaymentRequest;

  before(async () => {
    const accounts = deriveAccounts(1);
    const dollar = {
      address: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      decimals: 6,
      symbol: 'LOCALUSD',
      name: 'Local USD',
      version: '2',
    } as const;
    const [buyer] = accounts.buyers;
    assert.ok(buyer);
    good = await signPayment(signerOf(buyer), requirementsFor({ network: NETWORK, dollar, accounts }, 1n));
  });

  test('a payment of the stock client is understood', () => {
    const parsed = parseRequest(JSON.parse(JSON.stringify({ x402Version: 2, ...good })));
    assert.deepEqual(parsed, { ok: true, request: JSON.parse(JSON.stringify(good)) });
  });

  test('each missing or wrong member is refused with a reason', () => {
    const { paymentPayload, paymentRequirements } = good;
    const inside = (over: object): object => ({ ...good, paymentPayload: { ...paymentPayload, ...over } });
    const asked = (over: object): object => ({
      paymentPayload,
      paymentRequirements: { ...paymentRequirements, ...over },
    });
    const authorization = (over: object): object =>
      inside({
        payload: {
          ...paymentPayload.payload,
          authorization: { ...(paymentPayload.payload.authorization as object), ...over },
        },
      });
    const cases: readonly (readonly [unknown, string])[] = [
      [undefined, 'invalid_payload'],
      [null, 'invalid_payload'],
      [[], 'invalid_payload'],
      ['text', 'invalid_payload'],
      [{}, 'invalid_payload'],
      [{ paymentPayload }, 'invalid_payment_requirements'],
      [inside({ x402Version: 1 }), 'invalid_x402_version'],
      [inside({ x402Version: '2' }), 'invalid_x402_version'],
      [inside({ accepted: undefined }), 'invalid_payload'],
      [inside({ payload: null }), 'invalid_payload'],
      [inside({ payload: {} }), 'unsupported_payload_type'],
      [
        inside({ payload: { ...paymentPayload.payload, permit2Authorization: {} } }),
        'unsupported_payload_type',
      ],
      [authorization({ value: 1 }), 'unsupported_payload_type'],
      [authorization({ value: '-1' }), 'unsupported_payload_type'],
      [authorization({ nonce: '0x12' }), 'unsupported_payload_type'],
      [authorization({ from: 'somebody' }), 'unsupported_payload_type'],
      [authorization({ validBefore: '9'.repeat(79) }), 'unsupported_payload_type'],
      [asked({ amount: 1 }), 'invalid_payment_requirements'],
      [asked({ payTo: '0x1' }), 'invalid_payment_requirements'],
      [asked({ extra: [] }), 'invalid_payment_requirements'],
      [asked({ maxTimeoutSeconds: '300' }), 'invalid_payment_requirements'],
      [asked({ scheme: 'upto' }), 'unsupported_scheme'],
      [asked({ network: 'eip155:8453' }), 'invalid_network'],
    ];
    for (const [body, reason] of cases) {
      const parsed = parseRequest(body);
      assert.equal(parsed.ok ? 'accepted' : parsed.reason, reason, JSON.stringify(body));
    }
  });
});
