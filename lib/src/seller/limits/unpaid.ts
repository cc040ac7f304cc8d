/**
 * Work before money is a loan. Whoever has left a few of them unpaid is offered the same thing for money first: the
 * route's own terms in flow `upfront` (S01 to S03). How much a payer has run up is counted by the store, in `take`.
 */
import type { ExposureLimits } from '../../claim/index.ts';
import type { Flow } from '../../terms/index.ts';
import type { PaymentRequirements } from '../../wire/v2.ts';
import { checkCount, checkNames } from './option.ts';

/** What one payer may run up on routes where work comes before money. */
export type UnpaidRuns =
  | 'off'
  | {
      /** Runs that one payer may leave unpaid, those under way included, before it must pay first; default 3. */
      readonly limit?: number;
      /** Runs of one payer that may be under way at once, whatever is known of it; default 32. */
      readonly open?: number;
    };

/** An honest payer loses a payment now and then; one that lost three is asked to go first, which costs it nothing. */
const defaultLimit = 3;
/** As many answers as an honest fleet behind one wallet waits for; each could be work for nothing. */
const defaultOpen = 32;
/** More is no limit, and a store counts up to it. */
const mostRuns = 10_000;

/** Completes the option; undefined where nothing is counted. Mistakes are TypeErrors. */
export function exposureLimits(option: UnpaidRuns = {}): ExposureLimits | undefined {
  if (option === 'off') return undefined;
  checkNames('unpaidRuns', option, ['limit', 'open']);
  const { limit = defaultLimit, open = defaultOpen } = option;
  checkCount('unpaidRuns.limit', limit, mostRuns);
  checkCount('unpaidRuns.open', open, mostRuns);
  return Object.freeze({ unpaid: limit, open });
}

/** Made once for each list of entries, which for a fixed price is one frozen list. */
const payFirst = new WeakMap<readonly PaymentRequirements[], readonly PaymentRequirements[]>();

/** The same entries in flow `upfront`, which must be named in each (x402 v2 section 6.1). */
export function payFirstTerms(asked: readonly PaymentRequirements[]): readonly PaymentRequirements[] {
  const known = payFirst.get(asked);
  if (known !== undefined) return known;
  const terms = Object.freeze(
    asked.map((entry) =>
      Object.freeze({ ...entry, extra: Object.freeze({ ...entry.extra, paymentFlow: 'upfront' }) }),
    ),
  );
  payFirst.set(asked, terms);
  return terms;
}

/**
 * The flow that a payment is run by: the route's, or `upfront` for whoever accepted those terms on a route that may
 * offer them. That they were offered to this payer is not asked, since paying first harms nobody.
 */
export function flowOf(
  route: { readonly flow: Flow; readonly unpaid: ExposureLimits | undefined },
  accepted: PaymentRequirements,
): Flow {
  return route.unpaid !== undefined && accepted.extra.paymentFlow === 'upfront' ? 'upfront' : route.flow;
}
