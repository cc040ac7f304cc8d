import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { encodeHex } from '../wire/hex.ts';
import type { JsonObject, PaymentPayload } from '../wire/v2.ts';
import { type Binding, type BindingQuestion, checkBinding } from './binding.ts';
import { commitmentExtension } from './commitment.ts';
import { type BoundRequest, commitmentDomain, committedNonce, requestDigest } from './request.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());
const url = 'https://api.example.com/chat?model=small';
const bound: BoundRequest = {
  method: 'POST',
  url,
  body: new TextEncoder().encode('{"model":"small"}'),
  headerLines: [
    ['content-type', 'application/json'],
    ['authorization', 'Bearer alice'],
  ],
  boundHeaders: ['authorization', 'content-encoding', 'content-type'],
};
const salt = new Uint8Array(32).fill(9);
const saltText = encodeHex(salt).slice(2);
const modes: readonly Binding[] = ['off', 'advisory', 'echoed', 'required'];

function digestOf(request: BoundRequest): Uint8Array {
  const digest = requestDigest(request, commitmentDomain, sha256);
  assert.ok(digest.ok);
  return digest.value;
}
const committed = encodeHex(committedNonce({ requestDigest: digestOf(bound), salt }, sha256));

function message(parts: { readonly echo?: string; readonly info?: JsonObject }): PaymentPayload {
  const { echo, info } = parts;
  return {
    x402Version: 2,
    ...(echo === undefined ? {} : { resource: { url: echo } }),
    accepted: {
      scheme: 'exact',
      network: 'eip155:1',
      amount: 1n,
      asset: '0x',
      payTo: '0x',
      maxTimeoutSeconds: 60,
      extra: {},
    },
    payload: {},
    ...(info === undefined ? {} : { extensions: { [commitmentExtension]: { info } } }),
  };
}

/** What each mode says: what holds, or the code and the field that differed. */
function verdicts(
  parts: Parameters<typeof message>[0],
  more: Partial<BindingQuestion> = {},
): readonly string[] {
  return modes.map((binding) => {
    const verdict = checkBinding(
      {
        binding,
        message: message(parts),
        nonce: committed,
        request: bound,
        comparable: (text) => text,
        ...more,
      },
      sha256,
    );
    return verdict.ok ? verdict.value : `${verdict.refusal.code} ${verdict.refusal.fields?.[0]}`;
  });
}

const missing = `request_commitment_missing extensions.${commitmentExtension}.info.salt`;
const mismatch = 'request_commitment_mismatch nonce';

test('B07: what holds, or what is missing, in each mode', () => {
  assert.deepEqual(verdicts({}), ['none', 'none', 'resource_mismatch resource', missing]);
  assert.deepEqual(verdicts({ echo: url }), ['none', 'echoed', 'echoed', missing]);
  const wrong = 'resource_mismatch resource.url';
  assert.deepEqual(verdicts({ echo: 'https://other.example/chat?model=small' }), [
    'none',
    wrong,
    wrong,
    missing,
  ]);
  assert.deepEqual(verdicts({ echo: url, info: { salt: saltText } }), ['none', 'signed', 'signed', 'signed']);
  assert.deepEqual(verdicts({ info: { salt: saltText } }), [
    'none',
    'signed',
    'resource_mismatch resource',
    'signed',
  ]);
  assert.deepEqual(verdicts({ echo: `${url}x`, info: { salt: saltText } }), ['none', wrong, wrong, wrong]);
});

test('B02, B03, B04, B05, B06: a commitment to another request is refused wherever a salt is sent', () => {
  const others: readonly Partial<BoundRequest>[] = [
    { method: 'GET' },
    { method: 'post' },
    { url: 'https://api.example.com/chat?model=large' },
    { url: 'https://api.example.com/chat/2?model=small' },
    { url: 'https://tenant.example.com/chat?model=small' },
    { body: new TextEncoder().encode('{"model":"large"}') },
    { body: new Uint8Array() },
    { headerLines: [['authorization', 'Bearer alice']] },
    {
      headerLines: [
        ['content-type', 'application/json'],
        ['authorization', 'Bearer mallory'],
      ],
    },
    { boundHeaders: ['content-encoding', 'content-type'] },
  ];
  for (const other of others) {
    const request = { ...bound, ...other };
    const said = verdicts({ echo: request.url, info: { salt: saltText } }, { request });
    assert.deepEqual(said, ['none', mismatch, mismatch, mismatch], JSON.stringify(other));
  }
});

test('a digest that the buyer echoes is compared too, before its nonce', () => {
  const requestDigest = encodeHex(digestOf({ ...bound, method: 'GET' })).slice(2);
  const said = 'request_commitment_mismatch requestDigest';
  assert.deepEqual(verdicts({ echo: url, info: { salt: saltText, requestDigest } }), [
    'none',
    said,
    said,
    said,
  ]);
});

test('an echo is compared as the route compares URLs', () => {
  const comparable = (text: string): string => text.replace(/[?].*$/, '');
  assert.deepEqual(verdicts({ echo: 'https://API.example.com:443/chat?utm=1' }, { comparable }), [
    'none',
    'echoed',
    'echoed',
    missing,
  ]);
});
