import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { requirementsFor, signerOf, signPayment } from 'counterfoil-devnet';
import { type ChainActor, startChain } from './chain.ts';

describe('the process with the chain', () => {
  let chain: ChainActor;
  before(async () => {
    chain = await startChain({ buyers: 2 });
  });
  after(() => chain.actor.stop());

  /** Posts a fresh payment of the first buyer to a facilitator. */
  async function settle(url: string): Promise<number> {
    const [buyer] = chain.buyers;
    assert.ok(buyer);
    const { network, dollar, sellerAddress } = chain;
    const accounts = { seller: { address: sellerAddress } } as Parameters<
      typeof requirementsFor
    >[0]['accounts'];
    const body = await signPayment(
      signerOf({ ...buyer, role: 'buyer', index: 0 }),
      requirementsFor({ network: network as `eip155:${number}`, dollar, accounts }, 10_000n),
    );
    const answer = await fetch(`${url}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.status;
  }

  test('each seller has a facilitator of its own, in front of one chain', async () => {
    const { ours, stock } = chain.rigs;
    assert.notEqual(ours.url, stock.url);
    assert.equal(await settle(ours.url), 200);
    assert.deepEqual(await ours.counts(), { verify: 0, settle: 1, landed: 1 });
    assert.deepEqual(await stock.counts(), { verify: 0, settle: 0, landed: 0 });
    assert.equal((await chain.chain.transfers({ to: chain.sellerAddress })).length, 1);
  });

  test('a facilitator loses its answer as told, while the money moves, and counts anew after a clear', async () => {
    const { ours } = chain.rigs;
    await ours.clear();
    await ours.setMode('land_then_502');
    const landed = ours.landed(1);
    assert.equal(await settle(ours.url), 502);
    await landed;
    await ours.setMode('pass');
    assert.equal(await settle(ours.url), 200);
    assert.deepEqual(await ours.counts(), { verify: 0, settle: 2, landed: 2 });
  });

  test('a slow facilitator answers well, only later than the chain', async () => {
    const { stock } = chain.rigs;
    await stock.setMode('slow');
    const order: string[] = [];
    await Promise.all([
      stock.landed(1).then(() => order.push('landed')),
      settle(stock.url).then((status) => order.push(String(status))),
    ]);
    assert.deepEqual(order, ['landed', '200']);
  });

  test('a mode or a rig that does not exist is a fault, not a silence', async () => {
    await assert.rejects(chain.actor.ask('mode', { rig: 'ours', mode: 'lie' }), /there is no mode lie/);
    await assert.rejects(chain.actor.ask('counts', { rig: 'theirs' }), /there is no rig theirs/);
  });
});

test('a chain that cannot start says why', async () => {
  const actors: { stop: () => Promise<void> }[] = [];
  const starting = startChain({ buyers: 0, onActor: (actor) => actors.push(actor) });
  await assert.rejects(starting, /accounts must be a whole number .*from 1 to 100/);
  await Promise.all(actors.map((actor) => actor.stop()));
});
