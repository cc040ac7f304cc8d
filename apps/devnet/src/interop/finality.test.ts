import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type AuthorizationQuestion,
  type ChainReader,
  createChainReader,
  createRpcPool,
  type Finality,
  type RpcEvent,
  startBlockOf,
  startSlack,
} from 'counterfoil/settlement';
import type { Hex } from 'viem';
import { type Clients, createClients } from '../client.ts';
import { requirementsFor, signPayment } from '../payment.ts';
import type { PaymentRequest } from '../request.ts';
import { type Market, openMarket } from './market.ts';

type Http = Market['world']['http'];
type HttpRequest = Parameters<Http>[0];

const finalities: readonly Finality[] = ['latest', 1, 2, 3, 'safe', 'finalized'];

/** An address that no resolver knows: what is sent there reaches the devnet through a node that has stood still. */
const staleUrl = 'http://stale.invalid';

describe('how deep a payment lies, on a chain whose safe and final blocks are one and two behind the newest', () => {
  let market: Market;
  let clients: Clients;
  before(async () => {
    market = await openMarket();
    clients = createClients(market.devnet.rpcUrl);
  });
  after(() => market.close());

  type Sale = { readonly question: AuthorizationQuestion; readonly settle: () => Promise<string> };

  async function sale(): Promise<Sale> {
    const { facilitator, dollar } = market.devnet;
    const payment = await signPayment(market.buyer().account, requirementsFor(market.devnet, 10_000n));
    const question = questionOf(payment, dollar.address);
    const startBlock = await startBlockOf(market.chain, question);
    return {
      question: { ...question, startBlock },
      settle: async () => {
        const { paymentPayload, paymentRequirements } = payment;
        return (await facilitator.settle(paymentPayload, paymentRequirements)).transaction;
      },
    };
  }

  async function kinds(question: AuthorizationQuestion): Promise<readonly string[]> {
    const fates = await Promise.all(finalities.map((at) => market.chain.fate(question, at)));
    return fates.map(({ kind }) => kind);
  }

  /** Takes back this many of the newest blocks and mines as many empty ones. */
  async function reorg(depth: number): Promise<void> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [depth, []] });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(market.devnet.rpcUrl, { method: 'POST', headers, body });
    assert.equal((await answer.json()).error, undefined);
  }

  test('S05: a settlement becomes safe with the next block and final with the one after it', async () => {
    const { question, settle } = await sale();
    const transaction = await settle();
    const block = Number(await market.devnet.chain.blockNumber());
    assert.deepEqual(await kinds(question), [
      'settled',
      'settled',
      'shallow',
      'shallow',
      'shallow',
      'shallow',
    ]);
    assert.deepEqual(await market.chain.fate(question, 3), {
      kind: 'shallow',
      as: 'settled',
      transaction,
      block,
      confirmations: 1,
    });
    await market.devnet.chain.mine();
    assert.deepEqual(await kinds(question), [
      'settled',
      'settled',
      'settled',
      'shallow',
      'settled',
      'shallow',
    ]);
    await market.devnet.chain.mine();
    assert.deepEqual(await kinds(question), Array(6).fill('settled'));
    assert.deepEqual(await market.chain.fate(question, 'finalized'), {
      kind: 'settled',
      transaction,
      block,
      finality: 'finalized',
    });
  });

  test('S05: a reorg of two blocks takes a settlement away; settled again, it is shallow again', async () => {
    const { question, settle } = await sale();
    await settle();
    await market.devnet.chain.mine();
    assert.equal((await market.chain.fate(question, 2)).kind, 'settled');
    await reorg(2);
    assert.deepEqual(await kinds(question), Array(6).fill('unused'));
    await settle();
    const fate = await market.chain.fate(question, 'finalized');
    assert.ok(fate.kind === 'shallow' && fate.as === 'settled');
  });

  test('S06: our own landing is ours where a reorg brings it below the height that was noted', async () => {
    const snapshot = await market.devnet.chain.snapshot();
    await market.devnet.chain.mine(3);
    const { question, settle } = await sale();
    const noted = Number(await market.devnet.chain.blockNumber());
    assert.equal(question.startBlock, Math.max(0, noted - startSlack));
    await market.devnet.chain.revert(snapshot);
    await settle();
    const fate = await market.chain.fate(question);
    assert.ok(fate.kind === 'settled' && fate.block < noted);
  });

  test('S06: what was spent a block before it came here is not ours by that tolerance', async () => {
    const { question, settle } = await sale();
    await settle();
    const startBlock = await startBlockOf(market.chain, question);
    assert.equal(startBlock, Number(await market.devnet.chain.blockNumber()));
    await market.devnet.chain.mine();
    assert.equal((await market.chain.fate({ ...question, startBlock })).kind, 'used_elsewhere');
  });

  test('F10: a node that stands still is told by its lag, and never makes a settled payment unused', async () => {
    const { question, settle } = await sale();
    await market.devnet.chain.mine(3);
    const still = await market.devnet.chain.blockNumber();
    await settle();
    await market.devnet.chain.mine(3);
    const events: RpcEvent[] = [];
    const http = standing(market.world.http, { still, realUrl: market.devnet.rpcUrl });
    const pool = (quorum: number): ChainReader =>
      createChainReader(
        createRpcPool({
          network: market.devnet.network,
          endpoints: [{ url: staleUrl }, { url: market.devnet.rpcUrl }],
          http,
          monotonicMs: market.world.monotonicMs,
          quorum,
          observe: (event) => events.push(event),
        }),
      );
    assert.equal((await pool(1).fate(question, 'finalized')).kind, 'settled');
    const [lag] = events;
    assert.ok(lag?.event === 'rpc_lag' && lag.origin === staleUrl && lag.blocks === 4);
    assert.deepEqual(await pool(2).fate(question), {
      kind: 'unread',
      why: 'authorization state: endpoints disagree',
    });
  });

  test('F10: endpoints of another chain are refused', async () => {
    const { question } = await sale();
    const rpc = createRpcPool({
      network: 'eip155:8453',
      endpoints: [{ url: market.devnet.rpcUrl }],
      http: market.world.http,
      monotonicMs: market.world.monotonicMs,
    });
    const fate = await createChainReader(rpc).fate(question);
    assert.equal(fate.kind, 'unread');
  });

  // The last one, since it moves the chain's clock to the end of every payment.
  test('S05: a settlement that was final and is undone is unused at a final block above it, and expires for good', async () => {
    const { question, settle } = await sale();
    const snapshot = await market.devnet.chain.snapshot();
    await settle();
    await market.devnet.chain.mine(2);
    const settled = await market.chain.fate(question, 'finalized');
    assert.ok(settled.kind === 'settled');
    await market.devnet.chain.revert(snapshot);
    await market.devnet.chain.mine(4);
    const gone = await market.chain.fate(question, 'finalized');
    assert.ok(gone.kind === 'unused' && gone.block >= settled.block);
    const { timeMs = 0 } = (await market.chain.head()) ?? {};
    const seconds = Math.ceil((question.validBeforeMs - timeMs) / 1000);
    await clients.control.increaseTime({ seconds });
    await market.devnet.chain.mine();
    assert.equal((await market.chain.fate(question, 'finalized')).kind, 'unused', 'not yet final');
    await market.devnet.chain.mine(2);
    assert.deepEqual(await kinds(question), Array(6).fill('expired'));
  });
});

function questionOf(payment: PaymentRequest, asset: Hex): AuthorizationQuestion {
  const { authorization } = payment.paymentPayload.payload as {
    authorization: Record<'from' | 'to' | 'nonce' | 'value' | 'validBefore', string>;
  };
  return {
    asset: asset.toLowerCase(),
    payer: authorization.from.toLowerCase(),
    payTo: authorization.to.toLowerCase(),
    nonce: authorization.nonce,
    amount: BigInt(authorization.value),
    validBeforeMs: Number(authorization.validBefore) * 1000,
  };
}

/** What is asked of the stale address is asked of the devnet as of one block, whatever block was meant. */
function standing(
  http: Http,
  { still, realUrl }: { readonly still: bigint; readonly realUrl: string },
): Http {
  const block = `0x${still.toString(16)}`;
  return (request: HttpRequest) => {
    if (request.url !== staleUrl) return http(request);
    const call = JSON.parse(new TextDecoder().decode(request.body));
    if (call.method === 'eth_getBlockByNumber') call.params = [block, false];
    if (call.method === 'eth_call') call.params = [call.params[0], block];
    const body = new TextEncoder().encode(JSON.stringify(call));
    return http({ ...request, url: realUrl, body });
  };
}
