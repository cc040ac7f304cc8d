/**
 * Which x402 dialect a message speaks, by name: version 2, version 1, or the shape that M2MCent's articles
 * publish as version 2. A foreign message is refused with what to change, never guessed into ours, because a
 * guess about money is a wrong amount sooner or later.
 */

import type { Outcome } from '../problem.ts';
import { refuse } from '../problem.ts';
import { isJsonObject } from './json.ts';
import { networkOfV1, paymentHeaderV1, paymentResponseHeaderV1 } from './v1.ts';
import type { Json, JsonObject } from './v2.ts';
import { paymentRequiredHeader, paymentResponseHeader, paymentSignatureHeader } from './v2.ts';

/** Who wrote the message. */
export type Dialect = 'v2' | 'v1' | 'm2mcent' | 'unknown';

/** Which of the three messages it is. */
export type MessageKind = 'required' | 'signature' | 'response' | 'unknown';

/** What a look at the message tells; `advice` says in sentences what turns it into version 2. */
export type Recognition = {
  readonly dialect: Dialect;
  readonly kind: MessageKind;
  readonly advice: readonly string[];
};

/** Each dialect's name for people. */
export const dialectNames: { readonly [dialect in Dialect]: string } = {
  v2: 'x402 version 2',
  v1: 'x402 version 1',
  m2mcent: 'the M2MCent shape, which is not x402 version 2 although it says so',
  unknown: 'no dialect known here',
};

/** What a header's name alone says. */
const headerNames: ReadonlyMap<string, { readonly kind: MessageKind; readonly dialect: Dialect }> = new Map([
  [paymentRequiredHeader, { kind: 'required', dialect: 'v2' }],
  [paymentSignatureHeader, { kind: 'signature', dialect: 'v2' }],
  [paymentResponseHeader, { kind: 'response', dialect: 'v2' }],
  [paymentHeaderV1, { kind: 'signature', dialect: 'v1' }],
  [paymentResponseHeaderV1, { kind: 'response', dialect: 'v1' }],
]);

function has(object: JsonObject, key: string): boolean {
  return Object.hasOwn(object, key) && object[key] !== null;
}

function child(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isJsonObject(value) ? value : undefined;
}

function entriesOf(object: JsonObject): readonly JsonObject[] {
  const accepts = object.accepts;
  return Array.isArray(accepts) ? accepts.filter(isJsonObject) : [];
}

function kindOf(object: JsonObject): MessageKind {
  if (has(object, 'accepts')) return 'required';
  if (has(object, 'accepted') || has(object, 'payload') || has(object, 'authorization')) return 'signature';
  const response = ['success', 'transaction', 'txHash', 'status'].some((key) => has(object, key));
  return response ? 'response' : 'unknown';
}

function dialectOfRequired(object: JsonObject): Dialect {
  const entries = entriesOf(object);
  if (object.x402Version === 1 || entries.some((entry) => has(entry, 'maxAmountRequired'))) return 'v1';
  const ours = child(object, 'resource') !== undefined;
  if (!ours && (has(object, 'scheme') || entries.some((entry) => has(entry, 'validUntil')))) return 'm2mcent';
  return object.x402Version === 2 ? 'v2' : 'unknown';
}

function dialectOfSignature(object: JsonObject): Dialect {
  const ours = has(object, 'accepted') && has(object, 'payload');
  if (!ours && (has(object, 'selectedNetwork') || has(object, 'authorization'))) return 'm2mcent';
  if (object.x402Version === 1) return 'v1';
  if (object.x402Version === 2) return 'v2';
  return has(object, 'scheme') && has(object, 'network') ? 'v1' : 'unknown';
}

function dialectOfResponse(object: JsonObject): Dialect {
  if (has(object, 'txHash') || (has(object, 'status') && !has(object, 'success'))) return 'm2mcent';
  if (replacementFor(object) !== undefined) return 'v1';
  return has(object, 'success') ? 'v2' : 'unknown';
}

/** The CAIP-2 network for a version 1 name in `network`. */
function replacementFor(object: JsonObject): string | undefined {
  const network = object.network;
  return typeof network === 'string' ? networkOfV1(network) : undefined;
}

function networkAdvice(objects: readonly JsonObject[]): readonly string[] {
  const networks = new Set(objects.map(replacementFor).filter((network) => network !== undefined));
  return [...networks].map((network) => `Write the network as ${network}.`);
}

function adviseV1(object: JsonObject, kind: MessageKind): readonly string[] {
  switch (kind) {
    case 'required':
      return [
        'Set x402Version to 2 and send the object as base64 in PAYMENT-REQUIRED.',
        'Rename maxAmountRequired to amount in each entry of accepts.',
        'Move resource, description and mimeType into one top-level resource object with url.',
        ...networkAdvice(entriesOf(object)),
      ];
    case 'signature':
      return [
        'Set x402Version to 2 and send the payment in PAYMENT-SIGNATURE instead of X-PAYMENT.',
        'Replace scheme and network by accepted, the whole entry of accepts that is paid.',
        ...networkAdvice([object]),
      ];
    case 'response':
      return [
        'Send the object in PAYMENT-RESPONSE instead of X-PAYMENT-RESPONSE.',
        ...networkAdvice([object]),
      ];
    case 'unknown':
      return ['Send x402 version 2.'];
    default:
      return kind satisfies never;
  }
}

function adviseM2mcentSignature(object: JsonObject): readonly string[] {
  const authorization = child(object, 'authorization') ?? {};
  const advice = [
    'Replace selectedNetwork and scheme by accepted, the whole entry of accepts that is paid.',
    'Move authorization into payload.authorization.',
  ];
  if (['v', 'r', 's'].some((key) => has(authorization, key))) {
    advice.push('Join r, s and v into one 65-byte hex string in payload.signature.');
  }
  if (['value', 'validAfter', 'validBefore'].some((key) => typeof authorization[key] === 'number')) {
    advice.push('Write value, validAfter and validBefore as decimal strings.');
  }
  return advice;
}

function adviseM2mcent(object: JsonObject, kind: MessageKind): readonly string[] {
  switch (kind) {
    case 'required':
      return [
        'Move scheme into each entry of accepts.',
        'Move resource and description out of the entries into one top-level resource object with url.',
        'Replace validUntil by maxTimeoutSeconds, and add extra with the name and version of the token.',
      ];
    case 'signature':
      return adviseM2mcentSignature(object);
    case 'response':
      return [
        'Replace status by success, which is true or false.',
        'Rename txHash to transaction.',
        'Leave out x402Version, blockNumber, gasUsedUsdc and timestamp.',
      ];
    case 'unknown':
      return ['Send x402 version 2.'];
    default:
      return kind satisfies never;
  }
}

function dialectOf(object: JsonObject, kind: MessageKind): Dialect {
  switch (kind) {
    case 'required':
      return dialectOfRequired(object);
    case 'signature':
      return dialectOfSignature(object);
    case 'response':
      return dialectOfResponse(object);
    case 'unknown':
      return object.x402Version === 1 ? 'v1' : 'unknown';
    default:
      return kind satisfies never;
  }
}

/** Recognises a message by its members and, where they leave it open, by its header's name (any case). */
export function recognise(json: Json, name = ''): Recognition {
  const named = headerNames.get(name.toLowerCase());
  const object = isJsonObject(json) ? json : {};
  const seen = kindOf(object);
  const kind = seen === 'unknown' ? (named?.kind ?? 'unknown') : seen;
  const dialect = dialectOf(object, kind);
  switch (dialect) {
    case 'v1':
      return { dialect, kind, advice: adviseV1(object, kind) };
    case 'm2mcent':
      return { dialect, kind, advice: adviseM2mcent(object, kind) };
    case 'v2':
    case 'unknown':
      return { dialect, kind, advice: [] };
    default:
      return dialect satisfies never;
  }
}

/** What a header's name alone says about its message, or undefined for a name that x402 does not use. */
export function recogniseHeaderName(
  name: string,
): { readonly kind: MessageKind; readonly dialect: Dialect } | undefined {
  return headerNames.get(name.toLowerCase());
}

/** Turns the refusal of a message that speaks another dialect into `payment_version_unsupported` with the advice. */
export function explain<T>(
  outcome: Outcome<T>,
  seen: { readonly json: Json; readonly kind: MessageKind },
): Outcome<T> {
  if (outcome.ok) return outcome;
  const { dialect, kind, advice } = recognise(seen.json);
  if ((dialect === 'v1' || dialect === 'm2mcent') && kind === seen.kind) {
    return refuse('payment_version_unsupported', {
      detail: `This is ${dialectNames[dialect]}. ${advice.join(' ')}`,
    });
  }
  const version = isJsonObject(seen.json) ? seen.json.x402Version : undefined;
  const foreign = seen.kind !== 'response' && typeof version === 'number' && version !== 2;
  return foreign
    ? refuse('payment_version_unsupported', { detail: 'x402Version: only 2 is read here' })
    : outcome;
}
