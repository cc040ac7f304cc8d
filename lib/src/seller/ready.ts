/**
 * Whether the facilitator settles what the routes ask for. Until that is known every priced route answers 503, to
 * everybody (F07): a facilitator in trouble at boot must not open or break a route for ever.
 */
import type { Facilitator } from '../settlement/index.ts';
import type { Acceptance } from '../terms/index.ts';
import type { World } from '../world.ts';

export type ReadyState =
  | { readonly state: 'ready' }
  | { readonly state: 'not_ready' | 'uncovered'; readonly why: string };

export type Readiness = {
  /** The state as known; asks when it is time to, and waits for the first answer. */
  readonly check: () => Promise<ReadyState>;
};

/** A facilitator that is down is asked at most this often; longer each time. */
const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** Asks /supported once at a time, and again with growing pauses until it covers everything that is accepted. */
export function createReadiness(options: {
  readonly world: Pick<World, 'monotonicMs'>;
  readonly facilitator: Facilitator;
  readonly accepts: readonly Acceptance[];
  readonly report: (state: ReadyState) => void;
}): Readiness {
  const { world, facilitator, accepts, report } = options;
  let known: ReadyState | undefined;
  let asking: Promise<ReadyState> | undefined;
  let askAgainAtMs = 0;
  let pauseMs = firstPauseMs;

  const ask = async (): Promise<ReadyState> => {
    const state = judge(await facilitator.supported(), accepts);
    if (state.state !== 'ready') report(state);
    known = state;
    askAgainAtMs = world.monotonicMs() + pauseMs;
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    return state;
  };
  return {
    check: async () => {
      if (known?.state === 'ready') return known;
      if (known !== undefined && world.monotonicMs() < askAgainAtMs) return known;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
  };
}

function judge(
  answer: Awaited<ReturnType<Facilitator['supported']>>,
  accepts: readonly Acceptance[],
): ReadyState {
  if (answer.kind === 'unavailable') return { state: 'not_ready', why: answer.why };
  const missing = accepts.find(
    ({ network }) =>
      !answer.kinds.some(
        (kind) => kind.x402Version === 2 && kind.scheme === 'exact' && covers(kind.network, network),
      ),
  );
  if (missing === undefined) return { state: 'ready' };
  return { state: 'uncovered', why: `The facilitator does not settle "exact" on ${missing.network}.` };
}

/** /supported may name a whole namespace, as `eip155:*`. */
function covers(pattern: string, network: string): boolean {
  return pattern === network || (pattern.endsWith(':*') && network.startsWith(pattern.slice(0, -1)));
}
