/**
 * Tells the breaker what a facilitator's calls come to. A verdict on the payment is no failure, whatever it is: no
 * payer may close a shop by paying badly (S14). A failure of the facilitator is nobody else's (S08).
 */
import {
  type Facilitator,
  failsItself,
  type SettleAnswer,
  type VerifyAnswer,
} from '../../settlement/index.ts';
import type { Breaker } from './breaker.ts';

/** The same facilitator, watched. */
export function watchFacilitator(facilitator: Facilitator, breaker: Breaker): Facilitator {
  return {
    supported: facilitator.supported,
    verify: async (question, signal) => {
      const era = breaker.era();
      const answer = await facilitator.verify(question, signal);
      if (verifyFailed(answer)) breaker.heard(era, false);
      return answer;
    },
    settle: async (question) => {
      const era = breaker.era();
      const answer = await facilitator.settle(question);
      const well = settledWell(answer);
      if (well !== undefined) breaker.heard(era, well);
      return answer;
    },
  };
}

/**
 * A verify that went well is not counted: it says nothing of the settle, which is what work waits for, and would make
 * every failed settle one of two calls only.
 */
function verifyFailed(answer: VerifyAnswer): boolean {
  return answer.kind === 'unavailable';
}

/** Undefined where the payer may have been the cause, or nobody can say whose fault it was. */
function settledWell(answer: SettleAnswer): boolean | undefined {
  switch (answer.kind) {
    case 'settled':
    case 'refused':
    case 'pending':
      return true;
    case 'look_up':
      return failsItself(answer) ? false : undefined;
    case 'unsent':
    case 'lost':
      return false;
    default:
      return answer satisfies never;
  }
}
