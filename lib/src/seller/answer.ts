/**
 * Everything that leaves the seller is built here: problem documents (RFC 9457), the two payment headers, and the
 * cache rules of design section 4. PAYMENT-REQUIRED goes with a 402 that invites a new payment and with nothing
 * else (design 9.13).
 */
import { describe, type ProblemCode, type Refusal } from '../problem.ts';
import { encodePaymentResponse } from '../wire/response.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import { paymentRequiredHeader, paymentResponseHeader, type SettlementResponse } from '../wire/v2.ts';
import type { Answer, HeaderList } from './message.ts';

/** Says what is known of the presented payment on answers whose body is not ours. */
export const statusHeader = 'counterfoil-payment';

/** What travels beside the body. */
export type Envelope = {
  /** Encoded. */
  readonly required?: string | undefined;
  readonly response?: SettlementResponse | undefined;
  readonly status?: string | undefined;
};

/** What a page of another origin may read of our answers. */
export const exposedFields: string = 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, Counterfoil-Payment';

/** What a cache could act on; a priced route says no-store and nothing else. */
export const cacheFields: readonly string[] = [
  'age',
  'cache-control',
  'cdn-cache-control',
  'expires',
  'pragma',
  'surrogate-control',
  'surrogate-key',
  'x-accel-expires',
];

/** Fields that a handler may not set on a priced route: caches, and the headers that are ours. */
const ours: ReadonlySet<string> = new Set([
  ...cacheFields,
  'vary',
  'access-control-expose-headers',
  paymentRequiredHeader,
  paymentResponseHeader,
  statusHeader,
]);

/** A refusal as it leaves: status, code, money and retry in a problem document. */
export function problemAnswer(refusal: Refusal, envelope: Envelope = {}): Answer {
  const { status, body } = documentOf(refusal);
  const headers: [string, string][] = [['content-type', 'application/problem+json']];
  if (refusal.retryAfter !== undefined) headers.push(['retry-after', String(refusal.retryAfter)]);
  return { status, headers: [...headers, ...common('no-store'), ...payment(envelope)], body };
}

type Document = { readonly status: number; readonly body: Uint8Array };

/** A refusal of which nothing is known but its code reads the same every time; there are a few dozen. */
const plainDocuments = new Map<ProblemCode, Document>();

function documentOf(refusal: Refusal): Document {
  if (Object.keys(refusal).length > 1) return writeDocument(refusal);
  const known = plainDocuments.get(refusal.code) ?? writeDocument(refusal);
  plainDocuments.set(refusal.code, known);
  return known;
}

function writeDocument(refusal: Refusal): Document {
  const row = describe(refusal);
  const members = {
    type: `urn:counterfoil:problem:${row.code}`,
    title: row.title,
    status: row.status,
    code: row.code,
    money: row.money,
    retry: row.retry,
    ...(refusal.detail === undefined ? {} : { detail: refusal.detail }),
    ...(refusal.reason === undefined ? {} : { reason: refusal.reason }),
    ...(refusal.fields === undefined ? {} : { fields: refusal.fields }),
    ...(refusal.liveUntil === undefined ? {} : { liveUntil: refusal.liveUntil }),
  };
  return { status: row.status, body: encodeUtf8(JSON.stringify(members)) };
}

/** The answer of a handler that failed before anything was charged, or after: nothing of it may be cached. */
export function unpaidAnswer(answer: Answer, envelope: Envelope = {}): Answer {
  return {
    ...answer,
    headers: [...own(answer.headers), ...common('no-store', answer.headers), ...payment(envelope)],
  };
}

/** The answer that was paid for. */
export function paidAnswer(answer: Answer, envelope: Envelope): Answer {
  return {
    ...answer,
    headers: [
      ...own(answer.headers),
      ...common('private, no-store, no-transform', answer.headers),
      ...payment(envelope),
    ],
  };
}

function own(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !ours.has(name));
}

function common(cache: string, handlers: HeaderList = []): HeaderList {
  return [
    ['cache-control', cache],
    // For an nginx that was told to ignore Cache-Control.
    ['x-accel-expires', '0'],
    ['vary', joined(handlers, 'vary', 'PAYMENT-SIGNATURE')],
    ['access-control-expose-headers', joined(handlers, 'access-control-expose-headers', exposedFields)],
  ];
}

/** What the handler says in a list field, with ours after it. */
function joined(handlers: HeaderList, name: string, addition: string): string {
  const said = handlers.filter(([field]) => field === name).map(([, value]) => value);
  return [...said, addition].join(', ');
}

function payment(envelope: Envelope): HeaderList {
  const headers: [string, string][] = [];
  if (envelope.required !== undefined) headers.push([paymentRequiredHeader, envelope.required]);
  if (envelope.response !== undefined)
    headers.push([paymentResponseHeader, encodePaymentResponse(envelope.response)]);
  if (envelope.status !== undefined) headers.push([statusHeader, envelope.status]);
  return headers;
}
