/** A burst: the same request on many open connections at once. */
import type { Connection, Reply } from './connection.ts';
import { countStatuses } from './steady.ts';

export type Burst = {
  readonly statuses: Readonly<Record<string, number>>;
  /** When the last answer that delivers nothing was whole, counted from the first octet of the burst; 0 without any. */
  readonly lastLoserMs: number;
  /** When the last answer of all was whole. */
  readonly lastMs: number;
};

/** Writes one request to every connection in one turn of the loop and waits for every answer. */
export async function runBurst(connections: readonly Connection[], request: Uint8Array): Promise<Burst> {
  const startMs = performance.now();
  const told = async (connection: Connection): Promise<Reply & { readonly atMs: number }> => {
    const reply = await connection.ask(request);
    return { ...reply, atMs: performance.now() - startMs };
  };
  const replies = await Promise.all(connections.map(told));
  const losers = replies.filter(({ status }) => status !== 200);
  return {
    statuses: countStatuses(replies),
    lastLoserMs: Math.max(0, ...losers.map(({ atMs }) => atMs)),
    lastMs: Math.max(0, ...replies.map(({ atMs }) => atMs)),
  };
}

/**
 * Warms a server up for a burst: one connection asks once, and until it is answered all others repeat the same
 * request, so that a few hundred milliseconds make thousands of refused copies.
 */
export async function runFlood(connections: readonly Connection[], request: Uint8Array): Promise<void> {
  const [first, ...others] = connections;
  if (first === undefined) return;
  let over = false;
  const winner = first.ask(request).finally(() => {
    over = true;
  });
  const repeat = async (connection: Connection): Promise<void> => {
    while (!over) await connection.ask(request);
  };
  await Promise.all([winner, ...others.map(repeat)]);
}
