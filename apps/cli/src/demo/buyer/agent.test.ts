import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { after, test } from 'node:test';
import { decodePaymentSignature, encodePaymentRequired, encodePaymentResponse } from 'counterfoil/wire';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { closeServer, listen } from '../actor/config.ts';
import { runAgent, signStock } from './agent.ts';

const network = 'eip155:31337';
const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const required = encodePaymentRequired({
  x402Version: 2,
  resource: { url: 'https://api.example.com/weather' },
  accepts: [
    {
      scheme: 'exact',
      network,
      asset,
      amount: 10_000n,
      payTo: '0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
      maxTimeoutSeconds: 300,
      extra: { name: 'Local USD', version: '2' },
    },
  ],
});

let answer: RequestListener = () => {};
const server = createServer((request, response) => {
  if (request.headers['payment-signature'] !== undefined) return answer(request, response);
  response.writeHead(402, { 'payment-required': required }).end('{}');
});
const port = await listen(server, 0);
after(() => closeServer(server));

const privateKey = generatePrivateKey();
const account = { privateKey, address: privateKeyToAddress(privateKey) };
const run = (calls = 3) => runAgent(account, { url: `http://127.0.0.1:${port}/`, calls, network, asset });

test('a stock agent pays what is asked and stops at its first 200', async () => {
  answer = (_request, response) => void response.end('sunny');
  assert.deepEqual(await run(), {
    calls: 1,
    deliveries: 1,
    payments: 1,
    payable402: 0,
    outcomes: ['200'],
    body: 'sunny',
  });
});

test('a failed call is called again with another payment, three times at most', async () => {
  answer = (_request, response) => void response.writeHead(503).end();
  const { calls, deliveries, payments, payable402, outcomes } = await run();
  assert.deepEqual(
    { calls, deliveries, payments, payable402 },
    { calls: 3, deliveries: 0, payments: 3, payable402: 0 },
  );
  assert.deepEqual(outcomes, ['503', '503', '503']);
});

test('an invitation to pay again, in answer to a payment, is counted', async () => {
  answer = (_request, response) => void response.writeHead(402, { 'payment-required': required }).end('{}');
  assert.equal((await run()).payable402, 3);
});

test('a 402 that says what became of the payment is no invitation', async () => {
  const failed = encodePaymentResponse({
    success: false,
    errorReason: 'settlement_pending',
    transaction: '',
    network,
  });
  answer = (_request, response) => void response.writeHead(402, { 'payment-response': failed }).end('{}');
  assert.deepEqual((await run(1)).payable402, 0);
});

test('a connection that is cut is an outcome of the call', async () => {
  answer = (request) => void request.socket.destroy();
  const { calls, deliveries, outcomes } = await run(2);
  assert.deepEqual([calls, deliveries, outcomes.length], [2, 0, 2]);
});

test('a payment can be signed as the stock client signs it, without being sent', async () => {
  answer = () => assert.fail('it was sent');
  const header = await signStock(account, { url: `http://127.0.0.1:${port}/`, network, asset });
  const payment = decodePaymentSignature(header);
  assert.ok(payment.ok);
  const { resource, accepted } = payment.value;
  assert.deepEqual([resource?.url, accepted.amount], ['https://api.example.com/weather', 10_000n]);
});
