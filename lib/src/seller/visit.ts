/**
 * One request on its way through the seller: what came in, read once and in the order of design section 4. Nothing
 * here touches a store or money.
 */
import type { ClaimRecord, Purchase } from '../claim/index.ts';
import {
  type BindingHeld,
  type BoundRequest,
  checkSignature,
  type ExactEvmPayment,
  fingerprintDomain,
  parseExactEvm,
  requestDigest,
  requestUrl,
  withoutParameters,
} from '../payment/index.ts';
import { type Outcome, refuse, succeed } from '../problem.ts';
import { type Flow, readPaymentIdentifier } from '../terms/index.ts';
import { encodeHex } from '../wire/hex.ts';
import { decodePaymentSignature } from '../wire/signature.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import { paymentHeaderV1 } from '../wire/v1.ts';
import { type PaymentPayload, type PaymentRequirements, paymentSignatureHeader } from '../wire/v2.ts';
import { within } from './limit.ts';
import { flowOf } from './limits/unpaid.ts';
import type { HeaderList, SellerRequest, Work } from './message.ts';
import { RequestFault } from './read.ts';
import type { Route, RouteRequest } from './route.ts';
import type { Shop } from './shop.ts';

/** A request to a priced route, with its body read; whether it carries a payment is not decided here. */
export type Call<Parsed> = {
  readonly shop: Shop;
  readonly route: Route<Parsed>;
  readonly request: RouteRequest;
  /** Every header line as received; what the work does not see may be bound all the same. */
  readonly lines: HeaderList;
  readonly work: Work<Parsed>;
  /** What the route makes of the request: read once, for the price and for the work alike (B11). */
  readonly parsed: () => Promise<Outcome<Parsed>>;
  /** http:1 digest of the request under our own domain, 64 hex digits. */
  readonly digest: () => Outcome<string>;
};

/** A payment as it was read from its header; nothing of it is judged yet. */
export type Presented = { readonly message: PaymentPayload; readonly payment: ExactEvmPayment };

/** A call with a payment whose key is known and whose signature was judged as far as that goes without a network. */
export type Visit<Parsed> = Call<Parsed> & {
  /** What {@link Call.digest} gave. */
  readonly fingerprint: string;
  readonly message: PaymentPayload;
  readonly payment: ExactEvmPayment;
  readonly signatureHash: string;
  /** `foreign` and `contract` signatures are verified by the facilitator before anything is taken. */
  readonly signedBy: 'payer' | 'contract' | 'foreign';
  /** The route's, or `upfront` for a payment that accepted to go first. */
  readonly flow: Flow;
  readonly owner: string;
};

/** The text of the one payment header, if there is one. */
export function paymentText(headers: HeaderList): Outcome<string | undefined> {
  const found = headers.filter(([name]) => name === paymentSignatureHeader);
  const legacy = headers.filter(([name]) => name === paymentHeaderV1);
  // Some frameworks join two fields with a comma, which no base64 has (H08).
  const joined = [...found, ...legacy].some(([, value]) => value.includes(','));
  if (found.length + legacy.length > 1 || joined) return refuse('duplicate_payment_header');
  if (legacy.length === 1) {
    return refuse('payment_version_unsupported', {
      detail: 'X-PAYMENT is x402 version 1; send PAYMENT-SIGNATURE.',
    });
  }
  return succeed(found[0]?.[1]);
}

/** Questions whose answer is a 304, which would be sold as if it were the thing (H07). */
const conditions = ['if-match', 'if-modified-since', 'if-none-match', 'if-unmodified-since'];

/** What the work never sees: the payment, conditions, and ranges unless the route sells them. */
const hidden: { readonly [ranges in Route<unknown>['ranges']]: ReadonlySet<string> } = {
  ignore: new Set([paymentSignatureHeader, ...conditions, 'if-range', 'range']),
  sell: new Set([paymentSignatureHeader, ...conditions]),
};

/** Reads the body, bounded in octets and in time. */
export async function readCall<Parsed>(
  shop: Shop,
  route: Route<Parsed>,
  arrival: { readonly request: SellerRequest; readonly work: Work<Parsed>; readonly origin: string },
): Promise<Outcome<Call<Parsed>>> {
  const { request, work, origin } = arrival;
  const url = requestUrl(origin, request.target);
  if (!url.ok) return url;
  const body = await request.readBody({ maxBytes: route.maxBodyBytes, timeoutMs: route.bodyTimeoutMs });
  if (body.kind === 'too_large') return refuse('body_too_large');
  if (body.kind !== 'bytes') return refuse('body_too_slow');
  const unseen = hidden[route.ranges];
  const headers = request.headers.filter(([name]) => !unseen.has(name));
  const read: RouteRequest = { method: request.method, url: url.value, headers, body: body.bytes };
  const parts = { shop, route, request: read, lines: request.headers, work };
  let digest: Outcome<string> | undefined;
  return succeed({
    ...parts,
    parsed: readOnce(shop, route, read),
    digest: () => {
      digest ??= fingerprintOf(parts);
      return digest;
    },
  });
}

/** A route's own reading of a bounded body, and its price, take no longer than this. */
export const readLimitMs = 10_000;

function readOnce<Parsed>(
  shop: Shop,
  route: Route<Parsed>,
  request: RouteRequest,
): () => Promise<Outcome<Parsed>> {
  let reading: Promise<Outcome<Parsed>> | undefined;
  const parse = async (): Promise<Outcome<Parsed>> => {
    try {
      const parsed = await within(shop.world, readLimitMs, wrapped(route.parse(request)));
      return parsed === 'late'
        ? refuse('request_malformed', { detail: 'The route took too long to read it.' })
        : parsed;
    } catch (fault) {
      // Other faults are the seller's own and may say what nobody should read.
      const detail = fault instanceof RequestFault ? fault.message : 'The route cannot read this request.';
      return refuse('request_malformed', { detail });
    }
  };
  return () => {
    reading ??= parse();
    return reading;
  };
}

/**
 * A parsed value may be anything, `late` included. One that is still to come need be no Promise of this realm: a query
 * builder or another realm's would otherwise be priced before it is read.
 */
function wrapped<T>(value: T | Promise<T>): Outcome<T> | Promise<Outcome<T>> {
  return isThenable(value) ? Promise.resolve(value).then(succeed) : succeed(value);
}

function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return holds && 'then' in value && typeof value.then === 'function';
}

/** Decodes the payment header and makes the payment's key. */
export function readPayment(text: string): Outcome<Presented> {
  const message = decodePaymentSignature(text);
  if (!message.ok) return message;
  const payment = parseExactEvm(message.value);
  return payment.ok ? succeed({ message: message.value, payment: payment.value }) : payment;
}

/** Judges the signature under our own asset's domain, never the payment's. */
export function identify<Parsed>(
  call: Call<Parsed>,
  presented: Presented & { readonly fingerprint: string },
): Outcome<Visit<Parsed>> {
  const { message, payment, fingerprint } = presented;
  const asset = call.shop.assets.lookup(payment.network, payment.asset);
  // An asset that is sold no more: nobody's signature can be judged, and no terms will fit; but a payment that was
  // taken while it was sold is still answered from its record.
  const verdict =
    asset === undefined
      ? ({ by: 'foreign' } as const)
      : checkSignature(payment, asset.domain, call.shop.world.recover);
  if (verdict.by === 'nobody') return { ok: false, refusal: verdict.refusal };
  const signatureHash = encodeHex(call.shop.world.sha256(payment.signature)).slice(2);
  return succeed({
    ...call,
    message,
    payment,
    fingerprint,
    signatureHash,
    signedBy: verdict.by,
    flow: flowOf(call.route, message.accepted),
    owner: call.shop.nextOwner(),
  });
}

type Bound<Parsed> = Pick<Call<Parsed>, 'shop' | 'route' | 'request' | 'lines'>;

/**
 * The request as a payment may be bound to it, its URL whole. HEAD alone comes here with another method than the
 * route's, and asks what the route's own would cost.
 */
export function boundRequest<Parsed>({ route, request, lines }: Bound<Parsed>): BoundRequest {
  const { url, body } = request;
  return { method: route.method, url, body, headerLines: lines, boundHeaders: route.boundHeaders };
}

/** A URL without the parameters that the route declares free. */
export function boundUrl(route: Pick<Route<unknown>, 'freeParameters'>, url: string): string {
  return route.freeParameters.length === 0 ? url : withoutParameters(url, route.freeParameters);
}

function fingerprintOf<Parsed>(call: Bound<Parsed>): Outcome<string> {
  const request = { ...boundRequest(call), url: boundUrl(call.route, call.request.url) };
  const digest = requestDigest(request, fingerprintDomain, call.shop.world.sha256);
  return digest.ok ? succeed(encodeHex(digest.value).slice(2)) : digest;
}

/**
 * The name that this seller files a payment identifier under: nobody but the payer can meet it, and the store never
 * sees the identifier (formats 12.2). Refused where it is malformed, or missing where the route requires one.
 */
export function aliasOf<Parsed>(visit: Visit<Parsed>): Outcome<string | undefined> {
  const { route, shop, payment, message } = visit;
  if (route.paymentId === 'off') return succeed(undefined);
  const id = readPaymentIdentifier(message.extensions);
  if (!id.ok) return id;
  if (id.value === undefined) {
    return route.paymentId === 'required'
      ? refuse('payment_id_required', { fields: ['extensions.payment-identifier.info.id'] })
      : succeed(undefined);
  }
  const text = ['counterfoil:alias:1', shop.places.origin, payment.payer, id.value].join('\n');
  return succeed(encodeHex(shop.world.sha256(encodeUtf8(text))).slice(2));
}

/** What was judged of a payment: our own terms that it fits, how it is tied to the request, and its name if it has one. */
export type Agreed = {
  readonly requirement: PaymentRequirements;
  readonly binding: BindingHeld;
  readonly alias?: string | undefined;
};

/** What `take` writes down about this visit. */
export function purchaseOf<Parsed>(visit: Visit<Parsed>, agreed: Agreed): Purchase {
  const { payment, route } = visit;
  const { requirement, binding, alias } = agreed;
  return {
    key: payment.key,
    network: payment.network,
    asset: payment.asset,
    payer: payment.payer,
    payTo: payment.payTo,
    amount: payment.amount,
    nonce: payment.nonce,
    fingerprint: visit.fingerprint,
    signatureHash: visit.signatureHash,
    requirement,
    route: route.name,
    resourceUrl: visit.request.url,
    flow: visit.flow,
    validAfterMs: Number(payment.validAfter) * 1000,
    validBeforeMs: Number(payment.validBefore) * 1000,
    maxAttempts: route.attempts,
    binding,
    ...(route.assurance === undefined ? {} : { assurance: route.assurance }),
    ...(alias === undefined ? {} : { alias }),
  };
}

/** The presented signature octets are those that the record was taken with. */
export function sameSignature<Parsed>(visit: Visit<Parsed>, record: ClaimRecord): boolean {
  return visit.signatureHash === record.signatureHash;
}
