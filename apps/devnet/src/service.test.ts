import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { type Devnet, startDevnet } from './devnet.ts';
import { MAX_BODY_BYTES } from './http.ts';
import { requirementsFor, signPayment } from './payment.ts';

describe('the facilitator over HTTP', () => {
  let devnet: Devnet;

  before(async () => {
    devnet = await startDevnet();
  });
  after(() => devnet.stop());

  const post = async (path: string, body: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${devnet.facilitatorUrl}${path}`, { method: 'POST', body });
    return { status: response.status, text: await response.text() };
  };

  test('the official client reads what is supported, verifies and settles', async () => {
    const client = new HTTPFacilitatorClient({ url: devnet.facilitatorUrl });
    const supported = await client.getSupported();
    assert.deepEqual(supported.kinds, [{ x402Version: 2, scheme: 'exact', network: 'eip155:31337' }]);
    assert.deepEqual(supported.signers, { 'eip155:*': [devnet.accounts.relayer.address] });
    const payment = await signPayment(devnet.signer(0), requirementsFor(devnet, 7n));
    const { paymentPayload, paymentRequirements } = payment;
    assert.equal((await client.verify(paymentPayload, paymentRequirements)).isValid, true);
    const settled = await client.settle(paymentPayload, paymentRequirements);
    assert.equal(settled.success, true);
    assert.match(settled.transaction, /^0x[0-9a-f]{64}$/);
  });

  test('fifty payments at once over HTTP are all settled', async () => {
    const requirements = requirementsFor(devnet, 3n);
    const bodies = await Promise.all(
      Array.from({ length: 50 }, async (_, i) =>
        JSON.stringify(await signPayment(devnet.signer(i % 6), requirements)),
      ),
    );
    const answers = await Promise.all(bodies.map((body) => post('/settle', body)));
    assert.equal(answers.filter((answer) => JSON.parse(answer.text).success === true).length, 50);
  });

  test('what is not a payment gets a refusal in JSON, in the shape of the endpoint, and never a stack', async () => {
    const bodies = ['', '{', 'null', '[]', '{"paymentPayload":{"x402Version":2}}', '"'.repeat(100)];
    for (const body of bodies) {
      const verified = await post('/verify', body);
      const settled = await post('/settle', body);
      assert.equal(verified.status, 400);
      assert.equal(settled.status, 400);
      assert.equal(JSON.parse(verified.text).isValid, false);
      assert.deepEqual(
        { ...JSON.parse(settled.text), errorReason: '', errorMessage: '' },
        { success: false, errorReason: '', errorMessage: '', transaction: '', network: 'eip155:31337' },
      );
      assert.doesNotMatch(verified.text + settled.text, /\n? {4}at |node:internal|\.ts:/);
    }
  });

  test('a reason from the contract is one short line', async () => {
    const payment = await signPayment(devnet.signer(0), requirementsFor(devnet, 1n));
    await post('/settle', JSON.stringify(payment));
    const { text } = await post('/settle', JSON.stringify(payment));
    const { errorMessage } = JSON.parse(text);
    assert.match(errorMessage, /authorization is used or canceled$/);
    assert.doesNotMatch(errorMessage, /\n|viem|args/);
  });

  test('a body that is too large is refused and the facilitator goes on', async () => {
    const { status, text } = await post('/settle', ' '.repeat(MAX_BODY_BYTES + 1));
    assert.equal(status, 413);
    assert.equal(JSON.parse(text).success, false);
    assert.equal((await fetch(`${devnet.facilitatorUrl}/supported`)).status, 200);
  });

  test('wrong paths and methods are named', async () => {
    assert.equal((await post('/nowhere', '')).status, 404);
    const wrong = await fetch(`${devnet.facilitatorUrl}/settle`);
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'POST');
    assert.equal((await post('/supported', '')).status, 405);
  });
});
