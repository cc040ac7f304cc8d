/**
 * Every refusal that a buyer can meet, in one closed table (design section 4). The rows stand in order of
 * precedence: where two could be said, the earlier one is. A code is never renamed.
 */

/** What the seller knows of the presented payment's money. */
export type Money = 'unmoved' | 'moved' | 'unknown';
/** What the buyer may do next; `new_payment` is the only one that invites another signature. */
export type Retry = 'never' | 'same_payment' | 'new_payment' | 'later';

/** A row of the table; `reason` is the x402 error reason used on the wire where the specification has one. */
export type Problem = {
  readonly title: string;
  readonly status: number;
  readonly money: Money;
  readonly retry: Retry;
  readonly reason?: string;
};

function row(status: number, [money, retry]: readonly [Money, Retry], title: string): Problem {
  return { title, status, money, retry };
}

/** Every code, in order of precedence. */
export type ProblemCode =
  | 'duplicate_payment_header'
  | 'payment_malformed'
  | 'payment_version_unsupported'
  | 'header_too_large'
  | 'foreign_host'
  | 'request_malformed'
  | 'not_sold'
  | 'method_not_allowed'
  | 'body_too_large'
  | 'body_too_slow'
  | 'seller_not_ready'
  | 'request_invalid'
  | 'payment_required'
  | 'payment_in_progress'
  | 'settlement_unknown'
  | 'payment_already_used'
  | 'settlement_refused'
  | 'work_owed'
  | 'settlement_reversed'
  | 'earlier_payment_unresolved'
  | 'payment_id_conflict'
  | 'attempts_exhausted'
  | 'payment_id_required'
  | 'scheme_unsupported'
  | 'requirement_mismatch'
  | 'quote_expired'
  | 'resource_mismatch'
  | 'request_commitment_missing'
  | 'request_commitment_malformed'
  | 'request_commitment_mismatch'
  | 'payer_invalid'
  | 'signature_invalid'
  | 'authorization_window_too_long'
  | 'authorization_not_yet_valid'
  | 'authorization_expired'
  | 'authorization_window_too_short'
  | 'price_unavailable'
  | 'upfront_required'
  | 'payment_refused'
  | 'facilitator_unavailable'
  | 'store_unavailable'
  | 'store_full'
  | 'too_many_requests'
  | 'work_failed'
  | 'answer_too_large'
  | 'redirect_not_sold'
  | 'internal_error';

/** The table. Every code is produced by a source file, shown by a test and listed in docs/reference/problems.md. */
export const problems: { readonly [code in ProblemCode]: Problem } = {
  // Before the payment is looked at.
  duplicate_payment_header: row(400, ['unknown', 'same_payment'], 'More than one payment header was sent.'),
  payment_malformed: row(400, ['unmoved', 'new_payment'], 'The payment header cannot be read.'),
  payment_version_unsupported: row(
    400,
    ['unmoved', 'new_payment'],
    'This payment dialect is not served here.',
  ),
  header_too_large: row(431, ['unmoved', 'never'], 'The payment header is larger than this seller reads.'),
  foreign_host: row(421, ['unmoved', 'never'], 'This host is not one that this seller speaks for.'),
  request_malformed: row(400, ['unmoved', 'never'], 'The request cannot be read.'),
  not_sold: row(404, ['unmoved', 'never'], 'Nothing is sold at this address.'),
  method_not_allowed: row(405, ['unknown', 'same_payment'], 'A payment cannot be spent with this method.'),
  body_too_large: row(413, ['unmoved', 'never'], 'The request body is larger than this route reads.'),
  body_too_slow: row(408, ['unmoved', 'same_payment'], 'The request body did not arrive in time.'),
  seller_not_ready: row(503, ['unknown', 'same_payment'], 'The seller does not know yet what it can settle.'),
  request_invalid: row(400, ['unmoved', 'never'], 'This request cannot be served, paid or not.'),
  payment_required: row(402, ['unmoved', 'new_payment'], 'This resource must be paid for.'),

  // A key that is already known is answered from its record.
  payment_in_progress: row(
    402,
    ['unknown', 'same_payment'],
    'This payment is being used by another request.',
  ),
  settlement_unknown: row(503, ['unknown', 'same_payment'], 'Whether this payment settled is not known yet.'),
  payment_already_used: row(409, ['moved', 'never'], 'This payment was spent already.'),
  settlement_refused: row(402, ['unmoved', 'new_payment'], 'The settlement was refused.'),
  work_owed: row(502, ['moved', 'later'], 'The payment settled and the work is owed.'),
  settlement_reversed: row(409, ['unmoved', 'new_payment'], 'The settlement was undone by the chain.'),
  earlier_payment_unresolved: row(
    503,
    ['unmoved', 'same_payment'],
    'An earlier payment for this request is unresolved.',
  ),
  payment_id_conflict: row(
    409,
    ['unmoved', 'never'],
    'This payment identifier belongs to another authorization.',
  ),
  attempts_exhausted: row(
    402,
    ['unmoved', 'new_payment'],
    'The work failed as often as one payment may try.',
  ),

  // A new key is judged.
  payment_id_required: row(400, ['unmoved', 'new_payment'], 'This route asks for a payment identifier.'),
  scheme_unsupported: row(
    402,
    ['unmoved', 'new_payment'],
    'The scheme or transfer method is not served here.',
  ),
  requirement_mismatch: row(402, ['unmoved', 'new_payment'], 'The payment is for other terms than these.'),
  quote_expired: row(402, ['unmoved', 'new_payment'], 'The price that was quoted is not offered any more.'),
  resource_mismatch: row(
    402,
    ['unmoved', 'new_payment'],
    'The payment names another resource than this one.',
  ),
  request_commitment_missing: row(
    402,
    ['unmoved', 'new_payment'],
    'The payment must commit to this request and does not.',
  ),
  request_commitment_malformed: row(
    402,
    ['unmoved', 'new_payment'],
    'The request commitment of this payment cannot be read.',
  ),
  request_commitment_mismatch: row(
    402,
    ['unmoved', 'new_payment'],
    'The payment commits to another request.',
  ),
  payer_invalid: row(402, ['unmoved', 'new_payment'], 'The payer is not an address that can pay.'),
  signature_invalid: row(402, ['unmoved', 'new_payment'], 'The signature does not fit the authorization.'),
  authorization_window_too_long: row(
    402,
    ['unmoved', 'new_payment'],
    'The authorization lives longer than this seller accepts.',
  ),
  authorization_not_yet_valid: row(402, ['unmoved', 'new_payment'], 'The authorization is not valid yet.'),
  authorization_expired: row(402, ['unmoved', 'new_payment'], 'The authorization has expired.'),
  authorization_window_too_short: row(
    402,
    ['unmoved', 'new_payment'],
    'The authorization ends before the work could be settled.',
  ),
  price_unavailable: row(400, ['unmoved', 'never'], 'No price can be given for this request.'),
  upfront_required: row(
    402,
    ['unmoved', 'new_payment'],
    'This payer has left work unpaid, and pays before the work now.',
  ),
  payment_refused: row(402, ['unmoved', 'new_payment'], 'The facilitator does not accept this payment.'),

  // The seller cannot go on.
  facilitator_unavailable: row(503, ['unmoved', 'same_payment'], 'The facilitator cannot be reached.'),
  store_unavailable: row(503, ['unknown', 'same_payment'], 'The claim store cannot be reached.'),
  store_full: row(503, ['unmoved', 'same_payment'], 'The claim store is at its capacity.'),
  too_many_requests: row(
    429,
    ['unknown', 'same_payment'],
    'Too many payments are under way, or came to nothing; wait before the next one.',
  ),
  work_failed: row(500, ['unmoved', 'same_payment'], 'The work failed before anything was charged.'),
  answer_too_large: row(500, ['unmoved', 'never'], 'The answer is larger than this route may keep.'),
  redirect_not_sold: row(
    502,
    ['unmoved', 'never'],
    'The work answered with a redirect, which this route does not sell.',
  ),
  internal_error: row(500, ['unknown', 'same_payment'], 'The payment layer failed.'),
};

/** The x402 reason for a code where section 9 of the specification names one, else the code itself. */
export const reasons: { readonly [code in ProblemCode]?: string } = {
  payment_malformed: 'invalid_payload',
  payment_version_unsupported: 'invalid_x402_version',
  scheme_unsupported: 'unsupported_scheme',
  signature_invalid: 'invalid_exact_evm_payload_signature',
  authorization_expired: 'invalid_exact_evm_payload_authorization_valid_before',
  authorization_window_too_short: 'invalid_exact_evm_payload_authorization_valid_before',
  authorization_not_yet_valid: 'invalid_exact_evm_payload_authorization_valid_after',
};

/** A code with what is known of this one occurrence; `detail` is our own text and never another party's. */
export type Refusal = {
  readonly code: ProblemCode;
  readonly detail?: string;
  /** Overrides of the row where this occurrence knows better (design section 4). */
  readonly status?: number;
  readonly money?: Money;
  readonly retry?: Retry;
  /** Seconds. */
  readonly retryAfter?: number;
  /** Until when (Unix seconds) the presented bytes could still move money. */
  readonly liveUntil?: number;
  /** The x402 reason, where one was given; always one of the known ones. */
  readonly reason?: string;
  /** Names of the fields that differed. */
  readonly fields?: readonly string[];
};

/** The row of a refusal with the occurrence's own knowledge laid over it. */
export function describe(refusal: Refusal): Problem & { readonly code: ProblemCode } {
  const base = problems[refusal.code];
  return {
    code: refusal.code,
    title: base.title,
    status: refusal.status ?? base.status,
    money: refusal.money ?? base.money,
    retry: refusal.retry ?? base.retry,
    reason: refusal.reason ?? reasons[refusal.code] ?? refusal.code,
  };
}

/** An outcome that the world can cause: a value, or the reason why there is none. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** Wraps a value as an {@link Outcome}. */
export function succeed<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** Wraps a code, with what is known of the occurrence, as a failed {@link Outcome}. */
export function refuse(
  code: ProblemCode,
  more: Omit<Refusal, 'code'> = {},
): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { code, ...more } };
}
