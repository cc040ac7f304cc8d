/**
 * What a 402 asks for, as a header. Nearly everything of it is the route's and stays; where the price is fixed, only
 * the URL is put in for each request.
 */
import { commitmentDomain, commitmentExtension, declareCommitment, requestDigest } from '../payment/index.ts';
import { type Outcome, refuse, succeed } from '../problem.ts';
import { encodePaymentRequired, prepareRequired } from '../wire/required.ts';
import type { JsonObject, PaymentRequired, PaymentRequirements } from '../wire/v2.ts';
import { fitRequired, warnRequiredLength } from './budget.ts';
import { boundRequest, type Call } from './visit.ts';

/** Octets of a URL that every 402 has room for. */
const longestPricedUrl = 2048;

/** Prepared headers by the entries they ask for, which are one frozen list for a fixed price, and by error. */
const prepared = new WeakMap<readonly PaymentRequirements[], Map<string, (url: string) => string>>();

/** The PAYMENT-REQUIRED of this request; its resource is our configured origin's URL, never the Host's. */
export function askFor<Parsed>(
  call: Call<Parsed>,
  accepts: readonly PaymentRequirements[],
  error: string,
): Outcome<string> {
  const { route, request, shop } = call;
  if (route.asksAlike) {
    const header = prepare(route, accepts, error)(request.url);
    if (header.length <= warnRequiredLength) return succeed(header);
  }
  const extensions = extensionsOf(call);
  if (!extensions.ok) return extensions;
  const message = messageOf(route, extensions.value, { url: request.url, accepts, error });
  const fitted = fitRequired(message, encodePaymentRequired);
  if (!('tooLarge' in fitted)) {
    if (fitted.dropped.length > 0) shop.roster.noteShortened(route.name, fitted.dropped);
    return succeed(fitted.header);
  }
  // A long target alone can do it; then it is the request that has no terms.
  if (request.url.length > longestPricedUrl) return refuse('request_malformed', { fields: ['target'] });
  shop.observe({ event: 'alarm', alarm: 'terms_too_large', detail: route.name });
  return refuse('price_unavailable');
}

function prepare(
  route: Pick<Call<never>['route'], 'resource' | 'extensions'>,
  accepts: readonly PaymentRequirements[],
  error: string,
): (url: string) => string {
  const known = prepared.get(accepts) ?? new Map<string, (url: string) => string>();
  prepared.set(accepts, known);
  const made = known.get(error);
  if (made !== undefined) return made;
  const make = prepareRequired(messageOf(route, route.extensions, { url: '', accepts, error }));
  known.set(error, make);
  return make;
}

function messageOf(
  route: Pick<Call<never>['route'], 'resource'>,
  extensions: JsonObject,
  asked: {
    readonly url: string;
    readonly accepts: readonly PaymentRequirements[];
    readonly error: string;
  },
): PaymentRequired {
  const { url, accepts, error } = asked;
  return {
    x402Version: 2,
    error,
    resource: { url, ...route.resource },
    accepts,
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  };
}

/** What the route declares; a required binding shows the digest, so that a mismatch is seen before anybody signs. */
function extensionsOf<Parsed>(call: Call<Parsed>): Outcome<JsonObject> {
  const { route, shop } = call;
  if (route.binding !== 'required') return succeed(route.extensions);
  const digest = requestDigest(boundRequest(call), commitmentDomain, shop.world.sha256);
  if (!digest.ok) return digest;
  const { boundHeaders } = route;
  const declared = declareCommitment({ required: true, boundHeaders, requestDigest: digest.value });
  return succeed({ ...route.extensions, [commitmentExtension]: declared });
}
