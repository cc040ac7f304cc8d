/**
 * The devnet as a program: starts one, says where everything is, and ends it properly on a signal.
 * `counterfoil devnet` calls `runDevnet`; the file can also be run directly, with the same flags.
 */
import { realpathSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { type Account, listAccounts, MAX_BUYERS, ROLE_COUNT } from './accounts.ts';
import { type Devnet, type DevnetOptions, startDevnet } from './devnet.ts';
import { DevnetError, explain } from './failure.ts';

/** The options of the command: those of the devnet, and how it speaks. */
export type RunOptions = Omit<DevnetOptions, 'warn'> & {
  /** Print one line of JSON when ready, instead of the table. */
  readonly json?: boolean | undefined;
  /** End when standard input ends: for a program that starts a devnet and may be killed itself. */
  readonly stopWithStdin?: boolean | undefined;
};

/** Where the command writes; `process` is one. An abort of `signal` ends it like a Ctrl-C. */
export type RunIo = {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly stdin?: Readable;
  readonly signal?: AbortSignal;
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const USAGE = `Usage: counterfoil devnet [options]

A local chain (id 31337) with a test dollar and a real x402 facilitator.

  --block-time SECONDS      a block every so many seconds (default: a block for each transaction)
  --state FILE              keep the chain in this file between runs
  --port PORT               of the JSON-RPC (default: a free one)
  --facilitator-port PORT   of the facilitator (default: a free one)
  --accounts N              funded buyers, 1 to ${MAX_BUYERS} (default: 6)
  --json                    one line of JSON when ready
  --stop-with-stdin         end when standard input ends
`;

/** Runs a devnet until a signal ends it; resolves with the exit code: 0 ended as asked, 1 failed, 2 wrong use. */
export async function runDevnet(options: RunOptions, io: RunIo): Promise<number> {
  const { json = false, stopWithStdin = false, ...rest } = options;
  const asked = listenForEnd(io, stopWithStdin);
  try {
    const devnet = await startDevnet({ ...rest, warn: (text) => io.stderr.write(`${text}\n`) });
    io.stdout.write(json ? `${JSON.stringify(summarize(devnet, options))}\n` : describe(devnet, options));
    const died = await Promise.race([asked.promise.then(() => undefined), devnet.exited]);
    await devnet.stop();
    if (died === undefined) return 0;
    io.stderr.write(`The chain ended by itself: ${died}.\n`);
    return 1;
  } catch (error) {
    io.stderr.write(`${explain(error)}\n`);
    if (error instanceof DevnetError) return 1;
    if (error instanceof TypeError) return 2;
    throw error;
  } finally {
    asked.release();
  }
}

/** The command line: parses the flags and runs; resolves with the exit code. */
export async function main(argv: readonly string[], io: RunIo): Promise<number> {
  const options = parseFlags(argv);
  if (typeof options !== 'string') return runDevnet(options, io);
  if (options === '') io.stdout.write(USAGE);
  else io.stderr.write(`${options}\n\n${USAGE}`);
  return options === '' ? 0 : 2;
}

/** The options, an empty text when help was asked for, or a sentence about what is wrong. */
function parseFlags(argv: readonly string[]): RunOptions | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        'block-time': { type: 'string' },
        state: { type: 'string' },
        port: { type: 'string' },
        'facilitator-port': { type: 'string' },
        accounts: { type: 'string' },
        json: { type: 'boolean' },
        'stop-with-stdin': { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    if (values.help === true) return '';
    const seconds = parseNumber('--block-time', values['block-time']);
    return {
      blockTimeMs: seconds === undefined ? undefined : seconds * 1_000,
      stateFile: values.state,
      port: parseNumber('--port', values.port),
      facilitatorPort: parseNumber('--facilitator-port', values['facilitator-port']),
      accounts: parseNumber('--accounts', values.accounts),
      json: values.json,
      stopWithStdin: values['stop-with-stdin'],
    };
  } catch (error) {
    return explain(error);
  }
}

function parseNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text)) throw new TypeError(`${flag} takes a whole number, got ${text}`);
  return Number(text);
}

/** Resolves at the first signal, abort or end of input; a second signal then has its usual effect. */
function listenForEnd(io: RunIo, stopWithStdin: boolean): { promise: Promise<void>; release(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    release();
    resolve();
  };
  const release = (): void => {
    for (const name of SIGNALS) process.removeListener(name, end);
    io.signal?.removeEventListener('abort', end);
    // An open input that is still read would keep the program alive after its end.
    if (stopWithStdin) io.stdin?.removeListener('end', end).removeListener('close', end).pause();
  };
  for (const name of SIGNALS) process.once(name, end);
  io.signal?.addEventListener('abort', end);
  if (io.signal?.aborted === true) end();
  if (stopWithStdin) io.stdin?.once('close', end).once('end', end).resume();
  return { promise, release };
}

/** What a program needs to know, as it is printed with --json. */
function summarize(devnet: Devnet, options: RunOptions): Record<string, unknown> {
  const { rpcUrl, chainId, network, facilitatorUrl, dollar, accounts, timings, anvilPid, restored } = devnet;
  return {
    ready: true,
    rpcUrl,
    chainId,
    network,
    facilitatorUrl,
    dollar,
    accounts,
    blockTimeMs: options.blockTimeMs ?? null,
    stateFile: options.stateFile ?? null,
    restored,
    timings: { ...timings, sinceProcessStartMs: performance.now() },
    pid: process.pid,
    anvilPid,
    warning: 'Keys and money of a local test chain. Everybody knows these keys.',
  };
}

function describe(devnet: Devnet, options: RunOptions): string {
  const { dollar, timings } = devnet;
  const blocks =
    options.blockTimeMs === undefined ? 'one for each transaction' : `every ${options.blockTimeMs / 1000} s`;
  const kept = `${options.stateFile} (${devnet.restored ? 'continued' : 'new'})`;
  const rows = [
    ['JSON-RPC', devnet.rpcUrl],
    ['chain', `${devnet.chainId} (${devnet.network})`],
    ['facilitator', devnet.facilitatorUrl],
    ['dollar', `${dollar.address}, ${dollar.symbol}, ${dollar.decimals} decimals`],
    ['EIP-712', `name "${dollar.name}", version "${dollar.version}"`],
    ['blocks', blocks],
    ['state', options.stateFile === undefined ? 'not kept' : kept],
  ];
  const seconds = (ms: number): string => (ms / 1000).toFixed(2);
  return [
    'Counterfoil devnet: a local chain, a test dollar, a real facilitator.',
    '',
    ...rows.map(([name = '', value]) => `  ${name.padEnd(12)}${value}`),
    '',
    '  LOCAL TEST KEYS, known to everybody. Never send real money to these addresses.',
    `  ${'role'.padEnd(10)}${'address'.padEnd(44)}private key`,
    ...listAccounts(devnet.accounts).map((account) => `  ${describeAccount(account)}`),
    '',
    `Ready in ${seconds(timings.totalMs)} s (anvil ${seconds(timings.anvilMs)}, dollar ${seconds(timings.dollarMs)}, ` +
      `facilitator ${seconds(timings.facilitatorMs)}); ${seconds(performance.now())} s since the program began. ` +
      'Ctrl-C ends it.',
    '',
  ].join('\n');
}

function describeAccount(account: Account): string {
  const place = account.role === 'buyer' ? `buyer ${account.index - ROLE_COUNT}` : account.role;
  return `${place.padEnd(10)}${account.address.padEnd(44)}${account.privateKey}`;
}

/** True when this file is the program and not a part of one; `node -e` may leave any text where a path should be. */
function isProgram(): boolean {
  try {
    return realpathSync(process.argv[1] ?? '') === import.meta.filename;
  } catch {
    return false;
  }
}

if (isProgram()) {
  void main(process.argv.slice(2), process).then((code) => {
    process.exitCode = code;
  });
}
