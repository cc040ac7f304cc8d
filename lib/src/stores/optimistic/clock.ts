/**
 * What this process believes the server's clock to be: never ahead of it, and behind by no more than an answer takes to
 * arrive. The server refuses a step that decided for another time than its own, so a wrong belief costs a round trip.
 */
export type Clock = {
  /** Takes note of a time that the server said just now. */
  readonly hear: (serverMs: number) => void;
  readonly guessMs: () => number;
};

/** A guess so far off that no step is applied for it. */
const never = 0;

/** Made before anything was heard. */
export function createClock(monotonicMs: () => number): Clock {
  let heard: { readonly serverMs: number; readonly atMs: number } | undefined;
  return {
    hear: (serverMs) => {
      heard = { serverMs, atMs: monotonicMs() };
    },
    guessMs: () => (heard === undefined ? never : heard.serverMs + Math.floor(monotonicMs() - heard.atMs)),
  };
}
