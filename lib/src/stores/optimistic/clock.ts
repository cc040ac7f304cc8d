/**
 * What this process believes the server's clock to be: never ahead of it, and behind by no more than an answer takes to
 * arrive. The server refuses a step that decided for another time than its own, so a wrong belief costs a round trip.
 */
export type Clock = {
  /** Takes note of a time that the server said; one that took long to arrive never makes the belief worse. */
  readonly hear: (serverMs: number) => void;
  /** The server has said that its clock is behind what was believed: it was set back, or ours runs fast. */
  readonly correct: (serverMs: number) => void;
  readonly guessMs: () => number;
};

/** A guess so far off that no step is applied for it. */
const never = 0;

/** Made before anything was heard. */
export function createClock(monotonicMs: () => number): Clock {
  let aheadMs: number | undefined;
  return {
    hear: (serverMs) => {
      const heardMs = serverMs - monotonicMs();
      aheadMs = aheadMs === undefined ? heardMs : Math.max(aheadMs, heardMs);
    },
    correct: (serverMs) => {
      aheadMs = serverMs - monotonicMs();
    },
    guessMs: () => (aheadMs === undefined ? never : Math.floor(aheadMs + monotonicMs())),
  };
}
