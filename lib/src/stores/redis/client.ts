/** The scripts of a store over a connection, each by its digest, and no more of them at once than a server keeps up with. */
import { createHash } from 'node:crypto';
import { StoreError } from '../error.ts';
import type { Connection } from './connection.ts';
import { asStoreError, isScriptGone } from './failure.ts';
import { type Script, scripts } from './scripts.ts';

/** Steps under way at once in one process; more than this wait for a server that does not keep up. */
const maxUnderWay = 10_000;

/** A step counts only when so many replicas have it. */
export type Replicas = { readonly count: number; readonly timeoutMs: number };

export type Client = {
  /** Host and port, for messages. */
  readonly place: string;
  /** Runs a script over the store's keys. */
  readonly run: (script: Script, prefix: string, args: readonly (string | Uint8Array)[]) => Promise<unknown>;
  readonly bytes: (name: string) => Promise<Uint8Array | undefined>;
  readonly close: () => void;
};

/** A client over a connection that is there. */
export function createClient(connection: Connection, replicas?: Replicas): Client {
  const { place } = connection;
  let underWay = 0;
  const sound = async <T>(work: () => Promise<T>): Promise<T> => {
    if (underWay >= maxUnderWay) {
      const words = `More than ${maxUnderWay} steps wait for the claim store ${place}.`;
      throw new StoreError('store_overloaded', words);
    }
    underWay += 1;
    if (underWay === 1) connection.keepAlive(true);
    try {
      await connection.usable();
      return await work();
    } catch (cause) {
      throw asStoreError(cause, place);
    } finally {
      underWay -= 1;
      if (underWay === 0) connection.keepAlive(false);
    }
  };
  connection.keepAlive(false);
  return {
    place,
    run: (script, prefix, args) => {
      // Copied at once: what the caller does with its octets later changes nothing.
      const given = ['1', prefix, ...args.map((one) => (typeof one === 'string' ? one : Buffer.from(one)))];
      return sound(() => run({ connection, replicas }, script, given));
    },
    bytes: (name) =>
      sound(async () => {
        const found = await connection.sendForBytes('GET', [name]);
        return found instanceof Uint8Array ? new Uint8Array(found) : undefined;
      }),
    close: () => connection.close(),
  };
}

type Over = { readonly connection: Connection; readonly replicas: Replicas | undefined };

async function run(over: Over, script: Script, given: readonly (string | Buffer)[]): Promise<unknown> {
  const confirmed = script === 'attempt' ? send : sendOnly;
  try {
    return await confirmed(over, 'EVALSHA', [digests[script], ...given]);
  } catch (cause) {
    if (!isScriptGone(cause)) throw cause;
    return confirmed(over, 'EVAL', [scripts[script], ...given]);
  }
}

function sendOnly({ connection }: Over, verb: string, args: readonly (string | Buffer)[]): Promise<unknown> {
  return connection.send(verb, args);
}

/** With its confirmation by replicas, in the same turn, so that both leave together; the server counts what has the step. */
async function send(over: Over, verb: string, args: readonly (string | Buffer)[]): Promise<unknown> {
  const { connection, replicas } = over;
  if (replicas === undefined) return sendOnly(over, verb, args);
  const { count } = replicas;
  const answers = [sendOnly(over, verb, args), confirm(connection, replicas)] as const;
  const [answer, reached] = await Promise.all(answers);
  if (answer === 1 && !(Number(reached) >= count)) {
    const words = `Only ${reached} of ${count} replicas of the claim store ${connection.place} have a step.`;
    throw new StoreError('store_failed', words);
  }
  return answer;
}

/** Whatever fails here fails after the step may have been applied, and never says that nothing was written. */
async function confirm(connection: Connection, { count, timeoutMs }: Replicas): Promise<unknown> {
  try {
    return await connection.send('WAIT', [String(count), String(timeoutMs)]);
  } catch (cause) {
    const { message } = asStoreError(cause, connection.place);
    throw new StoreError('store_failed', `${message} (a step was not confirmed by replicas)`);
  }
}

const digests: { readonly [script in Script]: string } = {
  attempt: sha1(scripts.attempt),
  find: sha1(scripts.find),
  due: sha1(scripts.due),
  unproven: sha1(scripts.unproven),
  page: sha1(scripts.page),
  expire: sha1(scripts.expire),
  stale: sha1(scripts.stale),
};

/** The name that the server gives to a script. */
function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
