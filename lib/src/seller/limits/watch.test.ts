import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Facilitator, FacilitatorQuestion, SettleAnswer, VerifyAnswer } from '../../settlement/index.ts';
import { watchFacilitator } from './watch.ts';

const question: FacilitatorQuestion = {
  payment: {},
  requirement: {},
  expected: { network: 'eip155:1', amount: 1n, payer: '0xa' },
  timeoutMs: 1_000,
};

/** What the breaker hears of one answer. */
async function heardOf(said: { readonly verify: VerifyAnswer } | { readonly settle: SettleAnswer }) {
  const heard: boolean[] = [];
  const facilitator: Facilitator = {
    supported: async () => ({ kind: 'supported', kinds: [] }),
    verify: async () => ('verify' in said ? said.verify : { kind: 'valid' }),
    settle: async () => ('settle' in said ? said.settle : { kind: 'unsent' }),
  };
  const watched = watchFacilitator(facilitator, {
    admit: () => 'free',
    leave: () => {},
    era: () => 7,
    heard: (era, well) => {
      assert.equal(era, 7);
      heard.push(well);
    },
  });
  const answer = 'verify' in said ? await watched.verify(question) : await watched.settle(question);
  assert.deepEqual(answer, 'verify' in said ? said.verify : said.settle, 'the answer itself is untouched');
  return heard;
}

const transaction = `0x${'1'.repeat(64)}`;

test('S08, S14: a failure is what the facilitator did, and never what it said of the payment', async () => {
  const settles: readonly (readonly [SettleAnswer, readonly boolean[]])[] = [
    [{ kind: 'settled', transaction, amount: 1n }, [true]],
    [{ kind: 'refused', reason: 'insufficient_funds' }, [true]],
    [{ kind: 'pending', transaction }, [true]],
    [{ kind: 'unsent' }, [false]],
    [{ kind: 'lost', why: 'timeout' }, [false]],
    [{ kind: 'look_up', reason: 'unexpected_settle_error' }, [false]],
    [{ kind: 'look_up', reason: 'unexpected_reason' }, [false]],
    [{ kind: 'look_up', reason: 'invalid_exact_evm_transaction_failed' }, [false]],
    [{ kind: 'look_up', reason: 'invalid_exact_evm_transaction_failed', transaction }, []],
    [{ kind: 'look_up', reason: 'invalid_exact_evm_transaction_simulation_failed' }, []],
    [{ kind: 'look_up', reason: 'invalid_exact_evm_nonce_already_used' }, []],
    [{ kind: 'look_up', reason: 'invalid_transaction_state', transaction }, []],
  ];
  for (const [settle, heard] of settles) {
    assert.deepEqual(
      await heardOf({ settle }),
      heard,
      JSON.stringify(settle, (_, v) => String(v)),
    );
  }
  assert.deepEqual(await heardOf({ verify: { kind: 'unavailable', why: 'timeout' } }), [false]);
  assert.deepEqual(await heardOf({ verify: { kind: 'valid' } }), []);
  assert.deepEqual(await heardOf({ verify: { kind: 'invalid', reason: 'insufficient_funds' } }), []);
});
