import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectChain, signerOf } from './chain.ts';
import { startDevnet } from './devnet.ts';
import { main, type RunOptions, runDevnet } from './main.ts';
import { requirementsFor, signPayment } from './payment.ts';

const PROGRAM = fileURLToPath(new URL('./main.ts', import.meta.url));

/** The parts of the JSON line that the tests use. */
type Ready = Pick<
  Awaited<ReturnType<typeof startDevnet>>,
  'rpcUrl' | 'facilitatorUrl' | 'dollar' | 'network' | 'accounts'
>;

/** Runs the command in this process until it has printed, then aborts it. */
async function runUntilPrinted(options: RunOptions): Promise<{ code: number; out: string; err: string }> {
  const end = new AbortController();
  let out = '';
  let err = '';
  const stdout = {
    write: (text: string): void => {
      out += text;
      end.abort();
    },
  };
  const stderr = {
    write: (text: string): void => {
      err += text;
    },
  };
  const code = await runDevnet(options, { stdout, stderr, signal: end.signal });
  return { code, out, err };
}

async function startProgram(
  flags: readonly string[],
  own: object = {},
): Promise<{ child: ChildProcess; ready: Ready }> {
  const child = spawn(process.execPath, [PROGRAM, '--json', ...flags], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...own,
  });
  assert.ok(child.stdout);
  let text = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.endsWith('\n')) break;
  }
  return { child, ready: JSON.parse(text) };
}

describe('the devnet as a program', () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterfoil-main-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('it prints where everything is, marks the keys as test keys, and ends with 0', async () => {
    const { code, out, err } = await runUntilPrinted({ accounts: 2 });
    assert.equal(code, 0);
    assert.equal(err, '');
    for (const part of [
      /JSON-RPC +http:/,
      /31337/,
      /facilitator +http:/,
      /Local USD/,
      /LOCAL TEST KEYS/,
      /Ready in \d/,
    ]) {
      assert.match(out, part);
    }
    assert.match(out, /buyer 1 +0x[0-9a-fA-F]{40} +0x[0-9a-f]{64}/);
    assert.doesNotMatch(out, /buyer 2/);
  });

  test('with --json it prints one line that a program can read', async () => {
    const { out } = await runUntilPrinted({ json: true, accounts: 1 });
    assert.equal(out.indexOf('\n'), out.length - 1);
    const line = JSON.parse(out);
    assert.equal(line.ready, true);
    assert.equal(line.network, 'eip155:31337');
    assert.equal(line.accounts.buyers.length, 1);
    assert.ok(line.timings.totalMs > 0);
    assert.match(line.warning, /test chain/);
  });

  test('what cannot start is one sentence and the exit code 1, wrong use is 2, help is 0', async () => {
    const failed = await runUntilPrinted({ stateFile: join(folder, 'no', 'place') });
    assert.equal(failed.code, 1);
    assert.match(failed.err, /^Cannot write the state file .*\n$/);
    const misused = await runUntilPrinted({ blockTimeMs: 1 });
    assert.equal(misused.code, 2);
    const said: string[] = [];
    const io = {
      stdout: { write: (text: string) => said.push(text) },
      stderr: { write: (text: string) => said.push(text) },
    };
    assert.equal(await main(['--help'], io), 0);
    assert.equal(await main(['--nonsense'], io), 2);
    assert.equal(await main(['--port', 'eighty'], io), 2);
    assert.match(said.join(''), /--state FILE[\s\S]*--nonsense[\s\S]*whole number/);
  });

  test('a Ctrl-C for the whole process group saves the chain and ends with 0', async () => {
    const stateFile = join(folder, 'interrupted');
    const { child, ready } = await startProgram(['--state', stateFile], { detached: true });
    const buyer = ready.accounts.buyers[0];
    assert.ok(buyer && child.pid !== undefined);
    const payment = await signPayment(signerOf(buyer), requirementsFor(ready, 5n));
    const settled = await fetch(`${ready.facilitatorUrl}/settle`, {
      method: 'POST',
      body: JSON.stringify(payment),
    });
    assert.equal((await settled.json()).success, true);
    const exit = once(child, 'exit');
    process.kill(-child.pid, 'SIGINT');
    assert.deepEqual(await exit, [0, null]);

    const again = await startDevnet({ stateFile });
    const chain = connectChain(again);
    assert.equal((await chain.transfers({ from: buyer.address })).length, 1);
    await again.stop();
  });

  test('anvil does not survive a program that is killed with SIGKILL', async () => {
    const { child, ready } = await startProgram([]);
    const url = new URL(ready.rpcUrl);
    const socket = connect(Number(url.port), url.hostname);
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    child.kill('SIGKILL');
    await closed;
    await assert.rejects(fetch(ready.rpcUrl));
  });

  test('a program that was started by another ends when that one is gone', async () => {
    const { child } = await startProgram(['--stop-with-stdin']);
    const exit = once(child, 'exit');
    child.stdin?.end();
    assert.deepEqual(await exit, [0, null]);
  });

  test('when the chain ends by itself, the program says so and ends with 1', async () => {
    let err = '';
    const stdout = { write: (text: string) => process.kill(JSON.parse(text).anvilPid, 'SIGKILL') };
    const stderr = {
      write: (text: string): void => {
        err += text;
      },
    };
    assert.equal(await runDevnet({ json: true }, { stdout, stderr }), 1);
    assert.match(err, /The chain ended by itself: .*SIGKILL/);
  });
});
