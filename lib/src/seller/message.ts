/**
 * What an adapter hands to the seller and gets back. An adapter translates its framework into these shapes and
 * decides nothing: no status, no header, no order is made there.
 */

/** Names in lower case, in the order received, duplicates kept apart. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

export type BodyResult =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'too_slow' }
  /** The client went away before the body was whole. */
  | { readonly kind: 'gone' };

export type SellerRequest = {
  readonly method: string;
  /** Path and query exactly as received (origin form). */
  readonly target: string;
  readonly headers: HeaderList;
  /** Called at most once; bounded in octets and time. */
  readonly readBody: (limits: {
    readonly maxBytes: number;
    readonly timeoutMs: number;
  }) => Promise<BodyResult>;
  /** The address that the request came from, where the adapter knows it; a proxy is recognised by it. */
  readonly peer?: string;
};

/** A whole answer; streams come with the flows that may carry them. */
export type Answer = {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
};

/** What the paid work is told. */
export type WorkContext<Parsed> = {
  /** The request as it was bound and priced. */
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: HeaderList;
    readonly body: Uint8Array;
  };
  /** The same object that the price was made from (B11). */
  readonly parsed: Parsed;
  /** Fires when nothing that the work does counts any more: the claim may have passed on, time is up, or it is over. */
  readonly signal: AbortSignal;
  /** `<payment key>#<attempt>`: hand it to whatever must not be done twice. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly payer: string;
  readonly network: string;
  readonly asset: string;
  /** Atomic units. */
  readonly amount: bigint;
};

/** The paid work. It may throw; a status of 400 or more means that it failed. */
export type Work<Parsed> = (context: WorkContext<Parsed>) => Promise<Answer>;

/** What the adapter writes, and how it reports back; `written` must be called once, whatever happens. */
export type Delivery = {
  readonly answer: Answer;
  readonly written: (how: 'complete' | 'cut') => Promise<void>;
  /** Nobody needs to hear how it went, so that an adapter may spare itself the watching. */
  readonly untracked?: true;
};
