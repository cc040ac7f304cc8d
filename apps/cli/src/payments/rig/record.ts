/** One record as a seller keeps it before anything happened: what the tests of this folder show and judge. */
import type { ClaimRecord } from 'counterfoil/claim';

const payer = `0x${'a1'.repeat(20)}`;
const asset = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
export const nonce: string = `0x${'0123456789abcdef'.repeat(4)}`;
export const hash: string = `0x${'cd'.repeat(32)}`;
export const base: ClaimRecord = {
  key: `eip155:84532/eip3009/${asset}/${payer}/${nonce}`,
  network: 'eip155:84532',
  asset,
  payer,
  payTo: `0x${'b2'.repeat(20)}`,
  amount: 10_000n,
  nonce,
  fingerprint: 'f'.repeat(64),
  signatureHash: 'e'.repeat(64),
  requirement: {
    scheme: 'exact',
    network: 'eip155:84532',
    asset,
    amount: 10_000n,
    payTo: `0x${'b2'.repeat(20)}`,
    maxTimeoutSeconds: 300,
    extra: {},
  },
  route: 'GET /weather',
  resourceUrl: 'https://api.example.com/weather',
  flow: 'authorization',
  validAfterMs: 0,
  validBeforeMs: 300_000,
  maxAttempts: 2,
  work: { state: 'idle' },
  money: { state: 'none' },
  fence: 1,
  attempts: 0,
  sendLog: [],
  sends: 0,
  createdAtMs: 1_000,
  updatedAtMs: 1_000,
};
