/** A steady load: a fixed number of requests over a few connections, each of which asks again when it was answered. */
import type { Connection, Reply } from './connection.ts';

/** How a run of requests went. */
export type Run = {
  readonly statuses: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requestsPerSecond: number;
};

/** Sends every request once, in order, over all connections, and waits for every answer. */
export async function runSteady(
  connections: readonly Connection[],
  requests: readonly Uint8Array[],
): Promise<Run> {
  const replies: Reply[] = [];
  let next = 0;
  const work = async (connection: Connection): Promise<void> => {
    for (;;) {
      const request = requests[next];
      if (request === undefined) return;
      next += 1;
      replies.push(await connection.ask(request));
    }
  };
  const startMs = performance.now();
  await Promise.all(connections.map(work));
  const tookMs = performance.now() - startMs;
  const times = replies.map((reply) => reply.tookMs).sort((a, b) => a - b);
  return {
    statuses: countStatuses(replies),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    requestsPerSecond: (replies.length * 1_000) / tookMs,
  };
}

/** How many answers had which status. */
export function countStatuses(replies: readonly Reply[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** The smallest value that a share of `sorted` does not exceed (nearest rank); 0 of nothing. */
export function quantile(sorted: readonly number[], share: number): number {
  const rank = Math.max(1, Math.ceil(sorted.length * share));
  return sorted[rank - 1] ?? 0;
}
