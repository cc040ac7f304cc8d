/** The start-up self-test's way through a fetch handler (H05): a Request as a server would make it. */
import type { Probe } from '../../seller/index.ts';
import { inTime, probeMs } from '../probe.ts';

/** A probe through a fetch handler; its URL is made from Host and target, as servers make it. */
export function createProbe(
  handler: (request: Request) => Response | Promise<Response>,
  limitMs: number = probeMs,
): Probe {
  return ({ method, target, headers, body }) =>
    inTime({ method, target }, limitMs, async (stop) => {
      const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? 'localhost';
      const request = new Request(`http://${host}${target}`, {
        method,
        headers: headers.map(([name, value]) => [name, value]),
        signal: stop,
        ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
      });
      const response = await handler(request);
      // Its body is nobody's; a handler that has handed it on elsewhere keeps it.
      response.body?.cancel().catch(() => {});
      return { status: response.status, headers: [...response.headers] };
    });
}
