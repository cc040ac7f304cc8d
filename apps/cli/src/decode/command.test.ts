import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import {
  encodeBase64Text,
  encodePaymentRequired,
  encodePaymentResponse,
  encodePaymentSignature,
} from 'counterfoil/wire';
import fc from 'fast-check';
import { decode } from './command.ts';

const main = join(import.meta.dirname, '..', 'main.ts');
const signature = `0x${'ab'.repeat(65)}`;
const accepted = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: 10_000n,
  payTo: '0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
  maxTimeoutSeconds: 300,
  extra: {},
};
const required = encodePaymentRequired({
  x402Version: 2,
  resource: { url: 'https://api.example.com/' },
  accepts: [accepted],
});
const payment = encodePaymentSignature({
  x402Version: 2,
  accepted,
  payload: { signature, authorization: {} },
});
const response = encodePaymentResponse({
  success: true,
  transaction: `0x${'12'.repeat(32)}`,
  network: 'eip155:1',
});

async function run(text: string, options = {}, input: readonly Uint8Array[] = []) {
  let out = '';
  const stdout = { write: (part: string) => (out += part) };
  const io = { stdout, stderr: stdout, stdin: Readable.from(input), env: {}, nowMs: () => 0 };
  return { code: await decode(text, options, io), out };
}

test('the three headers of version 2 are told apart and found sound', async () => {
  const seen = await Promise.all([required, payment, response].map((value) => run(value)));
  assert.deepEqual(
    seen.map(({ code }) => code),
    [0, 0, 0],
  );
  assert.match(seen[0]?.out ?? '', /^what a seller asks\nx402 version 2.*\n= Asks 0\.01 USDC/);
  assert.match(seen[1]?.out ?? '', /^what a buyer sends\n/);
  assert.match(seen[2]?.out ?? '', /^what became of the money\n/);
});

test('foreign dialects and broken headers are named, with what would put them right', async () => {
  const v1 = await run('{"x402Version":1,"accepts":[{"network":"base","maxAmountRequired":"1"}]}');
  assert.equal(v1.code, 1);
  assert.match(v1.out, /x This is x402 version 1\.\n> .*eip155:8453/s);
  const broken = await run(`PAYMENT-SIGNATURE: ${payment.slice(0, 40)}`);
  assert.equal(broken.code, 1);
  assert.match(broken.out, /\nx /);
  assert.equal((await run('PAYMENT-SIGNATURE: !!')).code, 1);
});

test('what is no x402 message at all could not be told', async () => {
  for (const text of ['e30=', '!!', '{"a":1}', 'X-Other: abc']) assert.equal((await run(text)).code, 3, text);
});

test('a signature is shortened, unless it is asked for in full', async () => {
  assert.ok(!(await run(payment)).out.includes(signature));
  assert.ok(!(await run(payment, { json: true })).out.includes(signature));
  assert.ok((await run(payment, { full: true })).out.includes(signature));
});

test('as JSON every finding is a member, and the exit code is the worst of all headers', async () => {
  const text = `HTTP/1.1 402\r\nPAYMENT-REQUIRED: ${required}\r\nPAYMENT-RESPONSE: ${payment}\r\n\r\n`;
  const { code, out } = await run('-', { json: true }, [Buffer.from(text)]);
  const { headers } = JSON.parse(out) as { headers: { name: string; kind: string; problems: string[] }[] };
  assert.equal(code, 1);
  assert.deepEqual(
    headers.map(({ name, kind, problems }) => [name, kind, problems.length]),
    [
      ['PAYMENT-REQUIRED', 'required', 0],
      ['PAYMENT-RESPONSE', 'signature', 1],
    ],
  );
});

test('the command reads standard input, as from curl, and answers on standard output', () => {
  const input = `HTTP/1.1 402 Payment Required\r\nPAYMENT-REQUIRED: ${required}\r\n\r\n{}`;
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'decode', '-'], {
    encoding: 'utf8',
    input,
  });
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /^PAYMENT-REQUIRED: what a seller asks/);
});

test('P06: whatever is piped in, no control character reaches the terminal and nothing crashes', async () => {
  const hostile = encodeBase64Text(
    JSON.stringify({ accepted: { '\u001b[2J\u202e': '\u001b]0;owned\u0007' }, payload: {} }),
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.constantFrom(hostile, `PAYMENT-SIGNATURE: ${hostile}`, `\u001b[31m: ${hostile}`),
  );
  await fc.assert(
    fc.asyncProperty(texts, fc.boolean(), async (text, full) => {
      fc.pre(text.trim() !== '');
      const { code, out } = await run('-', { full }, [Buffer.from(text)]);
      assert.ok([0, 1, 3].includes(code));
      assert.ok(!/[\p{Cc}\u202e]/u.test(out.replaceAll('\n', '')));
    }),
  );
});

test('P04: input without an end is refused before memory is', async () => {
  const endless = Array.from({ length: 40 }, () => new Uint8Array(65_536).fill(65));
  await assert.rejects(run('-', {}, endless), /longer than/);
});
