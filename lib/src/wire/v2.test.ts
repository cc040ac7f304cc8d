/** The names of the HTTP transport, pinned against the reference client. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { encodePaymentRequired } from './required.ts';
import { encodePaymentResponse } from './response.ts';
import type { SettlementResponse } from './v2.ts';
import { paymentRequiredHeader, paymentResponseHeader, paymentSignatureHeader } from './v2.ts';

const client = new x402HTTPClient(new x402Client());

/** A header lookup that answers for one name only, in any case, as fetch does. */
function only(name: string, value: string): (asked: string) => string | undefined {
  return (asked) => (asked.toLowerCase() === name ? value : undefined);
}

test('the reference client sends and finds the three headers under our names', () => {
  const sent = client.encodePaymentSignatureHeader({ x402Version: 2 } as never);
  assert.deepEqual(
    Object.keys(sent).map((name) => name.toLowerCase()),
    [paymentSignatureHeader],
  );
  const required = encodePaymentRequired({
    x402Version: 2,
    resource: { url: 'http://127.0.0.1/a' },
    accepts: [],
  });
  const found = client.getPaymentRequiredResponse(only(paymentRequiredHeader, required));
  assert.equal(found.resource.url, 'http://127.0.0.1/a');
  const response: SettlementResponse = {
    success: true,
    transaction: '0x11',
    network: 'eip155:84532',
    amount: 7n,
  };
  const settled = client.getPaymentSettleResponse(
    only(paymentResponseHeader, encodePaymentResponse(response)),
  );
  assert.deepEqual(settled, { success: true, transaction: '0x11', network: 'eip155:84532', amount: '7' });
});
