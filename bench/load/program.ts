/**
 * The process that makes the load. It signs payments and prepares octets before the timed part, so that it competes
 * with the server for as little as possible; what it costs is not counted.
 */
import { readNumber, readObject, readText, readTexts } from '../process/read.ts';
import { serveParent } from '../process/serve.ts';
import { type Burst, runBurst, runFlood } from './burst.ts';
import { type Connection, fieldOf, openConnection, requestOctets } from './connection.ts';
import { type Run, runSteady } from './steady.ts';
import { createWallet } from './wallet.ts';

/** As many as the figures that others published were taken with. */
const steadyConnections = 10;

const wallet = await createWallet();
/** Requests go from path to path in steps of this many, so that a few of them already reach all over a long list. */
const stride = 389;
/** What was prepared and not yet sent. */
let prepared: { readonly port: number; readonly requests: readonly Uint8Array[] } | undefined;

/** Opens connections, has work done on them, and closes them. */
async function over<Result>(
  port: number,
  count: number,
  work: (connections: readonly Connection[]) => Promise<Result>,
): Promise<Result> {
  const connections = await Promise.all(Array.from({ length: count }, () => openConnection(port)));
  try {
    return await work(connections);
  } finally {
    for (const connection of connections) connection.close();
  }
}

type Target = { readonly port: number; readonly paths: readonly string[]; readonly count: number };

function readTarget(input: unknown): Target & { readonly termsPort: number | undefined } {
  const target = readObject(input, 'target');
  return {
    port: readNumber(target, 'port'),
    paths: readTexts(target, 'paths'),
    count: readNumber(target, 'count'),
    termsPort: target.termsPort === undefined ? undefined : readNumber(target, 'termsPort'),
  };
}

async function termsAt(port: number, path: string): Promise<string> {
  const { head, status } = await over(port, 1, async ([connection]) => {
    if (connection === undefined) throw new Error('no connection');
    return connection.ask(requestOctets(port, path));
  });
  const terms = fieldOf(head, 'payment-required');
  if (terms === undefined) throw new Error(`status ${status} without terms at ${path}`);
  return terms;
}

/** Unpaid requests to each path in turn; or, with `termsPort`, requests to one path that each carry a payment. */
async function prepare(input: unknown): Promise<void> {
  const { port, paths, count, termsPort } = readTarget(input);
  if (termsPort === undefined) {
    const each = paths.map((one) => requestOctets(port, one));
    const requests = Array.from(
      { length: count },
      (_, at) => each[(at * stride) % each.length] ?? new Uint8Array(),
    );
    prepared = { port, requests };
    return;
  }
  const [path = '/'] = paths;
  const payments = await wallet.sign(await termsAt(termsPort, path), count);
  prepared = { port, requests: payments.map((payment) => requestOctets(port, path, payment)) };
}

async function steady(): Promise<Run> {
  const work = takePrepared();
  return over(work.port, Math.min(steadyConnections, work.requests.length), (connections) =>
    runSteady(connections, work.requests),
  );
}

/** Copies of the one prepared request, all at once or as a flood. */
async function copies(input: unknown, how: 'burst' | 'flood'): Promise<Burst | undefined> {
  const { count, freePath } = readCopies(input);
  const { port, requests } = takePrepared();
  const [request] = requests;
  if (request === undefined) throw new Error('nothing is prepared');
  return over(port, count, async (connections) => {
    if (how === 'flood') {
      await runFlood(connections, request);
      return undefined;
    }
    // The connections are accepted and known to the server before the clock starts.
    await runBurst(connections, requestOctets(port, freePath));
    return runBurst(connections, request);
  });
}

function readCopies(input: unknown): { readonly count: number; readonly freePath: string } {
  const copies = readObject(input, 'copies');
  return { count: readNumber(copies, 'count'), freePath: readText(copies, 'freePath') };
}

function takePrepared(): NonNullable<typeof prepared> {
  if (prepared === undefined) throw new Error('nothing is prepared');
  const taken = prepared;
  prepared = undefined;
  return taken;
}

serveParent(
  {
    prepare,
    steady,
    burst: (input) => copies(input, 'burst'),
    flood: (input) => copies(input, 'flood'),
  },
  async () => {},
);
