/**
 * Whether a payment was made for the request that it is presented with (formats 12.3). An echo is unsigned: it stops
 * honest mistakes and whoever copied a payment, not the payer. A commitment is signed, but its salt can be left out,
 * so that only `required` rests on it.
 */
import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';
import type { PaymentPayload } from '../wire/v2.ts';
import type { World } from '../world.ts';
import { sameUrl } from './canonical.ts';
import { commitsTo, readCommitment } from './commitment.ts';
import { type BoundRequest, commitmentDomain, requestDigest } from './request.ts';

/**
 * `off`: nothing is asked. `advisory`: what is there must be right. `echoed`: the resource must be there and ours.
 * `required`: the signed nonce must commit to method, URL, body and bound headers.
 */
export type Binding = 'off' | 'advisory' | 'echoed' | 'required';

/** What was found to hold, as receipts name it. */
export type BindingHeld = 'signed' | 'echoed' | 'none';

export type BindingQuestion = {
  readonly binding: Binding;
  readonly message: PaymentPayload;
  /** The authorization's nonce, `0x` and 64 lower-case hex digits. */
  readonly nonce: string;
  /** The request that is about to be executed, under our own origin. */
  readonly request: BoundRequest;
  /** Its URL as an echo is compared with it, and an echoed one made comparable. */
  readonly comparable: (url: string) => string;
};

/** What binds this payment to this request, or the refusal that names what differed. */
export function checkBinding(question: BindingQuestion, sha256: World['sha256']): Outcome<BindingHeld> {
  const { binding } = question;
  if (binding === 'off') return succeed('none');
  const signed = checkCommitment(question, sha256);
  if (!signed.ok) return signed;
  const echoed = checkEcho(question);
  if (!echoed.ok) return echoed;
  if (signed.value) return succeed('signed');
  return succeed(echoed.value ? 'echoed' : 'none');
}

/** True where a salt is there and right; a salt that is there and wrong is refused in every mode. */
function checkCommitment(question: BindingQuestion, sha256: World['sha256']): Outcome<boolean> {
  const { binding, message, nonce, request } = question;
  const claim = readCommitment(message.extensions);
  if (!claim.ok) return claim;
  if (claim.value.kind === 'none') {
    return binding === 'required' ? refuse('request_commitment_missing', missing) : succeed(false);
  }
  const digest = requestDigest(request, commitmentDomain, sha256);
  if (!digest.ok) return digest;
  const { salt, requestDigest: echoed } = claim.value;
  if (echoed !== undefined && !sameOctets(echoed, digest.value)) {
    return refuse('request_commitment_mismatch', { fields: ['requestDigest'] });
  }
  return commitsTo(nonce, { requestDigest: digest.value, salt }, sha256)
    ? succeed(true)
    : refuse('request_commitment_mismatch', { fields: ['nonce'] });
}

/** Says what a stock client lacks, since it is the first to meet this. */
const missing = {
  fields: ['extensions.evm-request-commitment.info.salt'],
  detail:
    'Sign with a nonce that commits to this request (evm-request-commitment, profile http:1) and send its salt.',
};

/** True where the payment echoes our own resource. */
function checkEcho({ binding, message, request, comparable }: BindingQuestion): Outcome<boolean> {
  if (message.resource === undefined) {
    return binding === 'echoed' ? refuse('resource_mismatch', { fields: ['resource'] }) : succeed(false);
  }
  return sameUrl(comparable(message.resource.url), comparable(request.url))
    ? succeed(true)
    : refuse('resource_mismatch', { fields: ['resource.url'] });
}

function sameOctets(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((octet, at) => octet === right[at]);
}
