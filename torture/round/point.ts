/**
 * The moments of a paid request at which a seller dies, and what is done to it there. The library has no hooks for
 * this: its store, its facilitator, its work and its delivery are wrapped in the seller's program.
 */

/** The flows that move money with one send; escrow has moments of its own, which come with it. */
export const flows = ['authorization', 'upfront'] as const;
export type Flow = (typeof flows)[number];

export type Point =
  /** The claim was taken; in upfront its send has begun in the same step. */
  | 'claimed'
  /** The handler is running. */
  | 'working'
  /** The answer is kept; in authorization its send has begun in the same step. */
  | 'kept'
  /** The settle has left for the facilitator, and nothing has come back. */
  | 'sent'
  /** The facilitator has answered, and nobody was told. */
  | 'answered'
  /** The store knows that the money moved. */
  | 'recorded'
  /** Upfront: the work of a payment that has settled was claimed. */
  | 'started'
  /** The answer is whole, and not one byte of it has left. */
  | 'ready'
  /** Some bytes of a long answer have left. */
  | 'delivering'
  /** The answer has left whole, and the store does not know. */
  | 'written'
  /** The store knows that the answer has left. */
  | 'noted';

/** Each flow meets them in this order. */
export const pointsOf: Readonly<Record<Flow, readonly [Point, ...Point[]]>> = {
  authorization: [
    'claimed',
    'working',
    'kept',
    'sent',
    'answered',
    'recorded',
    'ready',
    'delivering',
    'written',
    'noted',
  ],
  upfront: [
    'claimed',
    'sent',
    'answered',
    'recorded',
    'started',
    'working',
    'kept',
    'ready',
    'delivering',
    'written',
    'noted',
  ],
};

/** A point in words, after "killed". */
export const pointText: Readonly<Record<Point, string>> = {
  claimed: 'after the claim was taken',
  working: 'in its work',
  kept: 'after the answer was kept',
  sent: 'after the settle was sent',
  answered: 'after the settle was answered',
  recorded: 'after the money was recorded',
  started: 'after the paid work was claimed',
  ready: 'before the delivery',
  delivering: 'during the delivery',
  written: 'after the delivery, before it was noted',
  noted: 'after the delivery was noted',
};

/** What happens to the process that reaches a point first. */
export type Act =
  /** SIGKILL, at once. */
  | 'die'
  /** It says so and goes on; whoever ordered it ends it from outside. */
  | 'report'
  /** It says so and waits until it is told to go on. */
  | 'halt';

export type Step = { readonly point: Point; readonly act: Act };
