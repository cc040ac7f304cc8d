import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { PaymentPayload } from 'counterfoil/wire';
import { type FaultyFacilitator, startFaultyFacilitator } from '../fault.ts';
import type { CrashConfig, CrashPoint } from './crash.ts';
import { type Buyer, type Flow, type Market, openMarket, present, type Seen } from './market.ts';

/** A lease is over after 2.2 s; a busy machine may take its time, but not this much. */
const patienceMs = 20_000;
const program = join(import.meta.dirname, 'crash.ts');

type Shop = {
  readonly url: string;
  /** Resolves with the signal that ended it. */
  readonly ended: Promise<unknown>;
  readonly kill: () => void;
  readonly close: () => void;
};

type Case = {
  readonly buyer: Buyer;
  readonly rig: FaultyFacilitator;
  readonly start: (crashAt?: CrashPoint) => Promise<Shop>;
  readonly runs: () => Promise<number>;
};

/** What the request got that was under way when the process died: nothing, as a rule. */
function presentTo(url: string, payment: PaymentPayload): Promise<Seen | 'cut'> {
  return present(url, payment).catch(() => 'cut');
}

/** Presents the same payment again until it is served; whatever else it is told must not ask for another. */
async function untilServed(url: string, payment: PaymentPayload): Promise<Seen> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await present(url, payment);
    assert.equal(answer.required, undefined, `${answer.code} asked for another payment`);
    if (answer.status === 200) return answer;
    assert.ok(answer.status === 402 || answer.status === 503, `${answer.status} ${answer.code}`);
    assert.ok(performance.now() < deadline, `still ${answer.code}`);
    await pause(100);
  }
}

describe('a seller that is killed', { concurrency: 4 }, () => {
  let market: Market;
  let root = '';
  before(async () => {
    market = await openMarket();
    root = await mkdtemp(join(tmpdir(), 'counterfoil-crash-'));
    // Forty sellers start here. One that ends in peace leaves its compiled modules to the others.
    const first = await startShop(configOf(root, 'authorization', market.rig.url), root);
    first.close();
    assert.equal(await first.ended, 0);
  });
  after(async () => {
    await market.close();
    await rm(root, { recursive: true, force: true });
  });

  function configOf(folder: string, flow: Flow, facilitatorUrl: string): CrashConfig {
    const { dollar, network, accounts, rpcUrl } = market.devnet;
    return {
      dollar,
      network,
      payTo: accounts.seller.address,
      rpcUrl,
      facilitatorUrl,
      storePath: join(folder, 'claims.sqlite'),
      runsPath: join(folder, 'runs'),
      flow,
    };
  }

  /** A store on disk, a facilitator of its own and a buyer, cleaned up after the test. */
  async function prepare(t: TestContext, flow: Flow): Promise<Case> {
    const folder = await mkdtemp(join(root, 'case-'));
    const { devnet } = market;
    const rig = await startFaultyFacilitator({ upstream: devnet.facilitatorUrl });
    const shops: Shop[] = [];
    t.after(async () => {
      for (const shop of shops) shop.kill();
      await Promise.all(shops.map(({ ended }) => ended));
      await rig.close();
    });
    const config = configOf(folder, flow, rig.url);
    return {
      buyer: market.buyer(),
      rig,
      start: async (crashAt) => {
        const shop = await startShop(crashAt === undefined ? config : { ...config, crashAt }, root);
        shops.push(shop);
        return shop;
      },
      runs: async () => (await readFile(config.runsPath, 'utf8').catch(() => '')).split('\n').length - 1,
    };
  }

  const points: {
    readonly [flow in Flow]: readonly (readonly [CrashPoint, runs: number, settles: number])[];
  } = {
    authorization: [
      ['taken', 1, 1],
      ['working', 2, 1],
      ['kept', 1, 1],
      ['answered', 1, 1],
      ['recorded', 1, 1],
      ['written', 1, 1],
    ],
    upfront: [
      ['taken', 1, 1],
      ['answered', 1, 1],
      ['recorded', 1, 1],
      ['started', 1, 1],
      ['working', 2, 1],
      ['finished', 1, 1],
      ['written', 1, 1],
    ],
  };
  for (const flow of ['authorization', 'upfront'] as const) {
    for (const [point, runs, settles] of points[flow]) {
      test(`C04: ${flow}, killed once it has ${point}: after a restart the same payment is served and charged once`, async (t) => {
        const scene = await prepare(t, flow);
        const doomed = await scene.start(point);
        const payment = await scene.buyer.sign(doomed.url);
        // First what the buyer saw: a seller that answers instead of ending would be waited for in vain.
        const first = await presentTo(doomed.url, payment);
        if (point === 'written') assert.ok(first === 'cut' || first.text === 'sunny');
        else assert.equal(first, 'cut');
        assert.equal(await doomed.ended, 'SIGKILL');
        const served = await untilServed((await scene.start()).url, payment);
        assert.equal(served.text, 'sunny');
        const transfers = await scene.buyer.transfers();
        assert.deepEqual(
          transfers.map(({ value, transaction }) => [value, transaction]),
          [[10_000n, served.response?.transaction]],
        );
        assert.deepEqual([await scene.runs(), scene.rig.counts().settle], [runs, settles]);
      });
    }

    test(`C04, S04: ${flow}, killed while its settle is at the facilitator: the same payment is served and charged once`, async (t) => {
      const scene = await prepare(t, flow);
      scene.rig.setMode(['land_then_hang']);
      const doomed = await scene.start();
      const payment = await scene.buyer.sign(doomed.url);
      const cut = presentTo(doomed.url, payment);
      const landed = scene.rig.landed(1).then(() => 'landed');
      assert.equal(await Promise.race([landed, cut]), 'landed');
      doomed.kill();
      assert.equal(await cut, 'cut');
      const served = await untilServed((await scene.start()).url, payment);
      assert.equal(served.text, 'sunny');
      assert.equal((await scene.buyer.transfers()).length, 1);
      assert.deepEqual([await scene.runs(), scene.rig.counts().settle], [1, 1]);
    });

    test(`C04: ${flow}, killed in its work as often as one payment may try: no third run, and the books say who owes whom`, async (t) => {
      const scene = await prepare(t, flow);
      const first = await scene.start('working');
      const payment = await scene.buyer.sign(first.url);
      assert.equal(await presentTo(first.url, payment), 'cut');
      const second = await scene.start('working');
      await assert.rejects(untilServed(second.url, payment), TypeError);
      assert.equal(await second.ended, 'SIGKILL');
      const third = await scene.start();
      const answer = await settledAnswer(third.url, payment);
      if (flow === 'authorization') {
        assert.deepEqual([answer.status, answer.code, answer.money], [402, 'attempts_exhausted', 'unmoved']);
        assert.ok(answer.required);
      } else {
        assert.deepEqual([answer.status, answer.code, answer.money], [502, 'work_owed', 'moved']);
        assert.equal(answer.required, undefined);
      }
      assert.equal((await scene.buyer.transfers()).length, flow === 'authorization' ? 0 : 1);
      assert.equal(await scene.runs(), 2);
    });
  }
});

/** Presents the payment until the lease of whoever died with it is over. */
async function settledAnswer(url: string, payment: PaymentPayload): Promise<Seen> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await present(url, payment);
    if (answer.code !== 'payment_in_progress') return answer;
    assert.ok(performance.now() < deadline, 'still in progress');
    await pause(100);
  }
}

/** `root` is where the compiled modules are kept between two starts. */
async function startShop(config: CrashConfig, root: string): Promise<Shop> {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [program, JSON.stringify(config)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_COMPILE_CACHE: join(root, 'compiled') },
    },
  );
  child.stdin.on('error', () => {});
  const ended = once(child, 'exit').then(([code, signal]: readonly unknown[]) => signal ?? code);
  const lines = createInterface({ input: child.stdout });
  const [url] = await Promise.race([
    once(lines, 'line'),
    ended.then((how) => Promise.reject(new Error(`the seller ended with ${how} before it was open`))),
  ]);
  return {
    url: String(url),
    ended,
    kill: () => void child.kill('SIGKILL'),
    close: () => void child.stdin.end(),
  };
}
