/** What the probes of all adapters share: a time limit, and words for an application that does not answer. */
import type { ProbeRequest } from '../seller/index.ts';

/** Asking for a payment takes milliseconds; an application that is silent for so long has no gate there. */
export const probeMs = 5_000;

/** Runs one probe; `stop` aborts when it is over, in whichever way. Rejects where there is no answer in time. */
export async function inTime<Answer>(
  { method, target }: Pick<ProbeRequest, 'method' | 'target'>,
  limitMs: number,
  ask: (stop: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const over = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`${method} ${target} was not answered within ${limitMs} ms.`)),
    limitMs,
  );
  try {
    return await Promise.race([ask(over.signal), late.promise]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
