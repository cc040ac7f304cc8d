/**
 * PAYMENT-REQUIRED: what the seller asks, with each 402 (x402 v2 section 5.1). Members are written in the order
 * of the reference package's types; members of other dialects are dropped on reading.
 */

import type { Outcome } from '../problem.ts';
import { formatAmount } from './amount.ts';
import { encodeBase64Text } from './base64.ts';
import { explain } from './dialect.ts';
import { headerText, openHeader, sealHeader } from './header.ts';
import type { Shape } from './shape.ts';
import {
  amount,
  anyText,
  conclude,
  iconUrlText,
  identifierText,
  inspect,
  labelText,
  nested,
  nestedList,
  networkText,
  objectOrEmpty,
  optionalObject,
  optionalText,
  optionalTexts,
  positiveInteger,
  present,
  schemeText,
  text,
  urlText,
  versionTwo,
} from './shape.ts';
import type { Json, JsonObject, PaymentRequired, PaymentRequirements, ResourceInfo } from './v2.ts';

/** Section 5.1: at most five tags. */
const maxTags = 5;

/** Reads a ResourceInfo whose faults go to the message's findings. */
export function inspectResource(shape: Shape): ResourceInfo {
  return present<ResourceInfo>({
    url: text(shape, 'url', urlText),
    description: optionalText(shape, 'description', anyText),
    mimeType: optionalText(shape, 'mimeType', anyText),
    serviceName: optionalText(shape, 'serviceName', labelText),
    tags: optionalTexts(shape, 'tags', { most: maxTags, rule: labelText }),
    iconUrl: optionalText(shape, 'iconUrl', iconUrlText),
  });
}

/** Reads one entry of `accepts` whose faults go to the message's findings; an absent `extra` is an empty one. */
export function inspectRequirements(shape: Shape): PaymentRequirements {
  return Object.freeze({
    scheme: text(shape, 'scheme', schemeText),
    network: text(shape, 'network', networkText),
    asset: text(shape, 'asset', identifierText),
    amount: amount(shape, 'amount'),
    payTo: text(shape, 'payTo', identifierText),
    maxTimeoutSeconds: positiveInteger(shape, 'maxTimeoutSeconds'),
    extra: objectOrEmpty(shape, 'extra'),
  });
}

/** Reads PaymentRequirements from strict JSON, as a facilitator's request body holds them. */
export function readPaymentRequirements(json: Json): Outcome<PaymentRequirements> {
  const shape = inspect(json);
  return conclude(shape, inspectRequirements(shape));
}

/** Reads PaymentRequired; the faults are in the shape's findings. */
export function inspectPaymentRequired(shape: Shape): PaymentRequired {
  return present<PaymentRequired>({
    x402Version: versionTwo(shape),
    error: optionalText(shape, 'error', anyText),
    resource: inspectResource(nested(shape, 'resource')),
    accepts: Object.freeze(nestedList(shape, 'accepts').map(inspectRequirements)),
    extensions: optionalObject(shape, 'extensions'),
  });
}

/** Reads PaymentRequired from strict JSON; only version 2. */
export function readPaymentRequired(json: Json): Outcome<PaymentRequired> {
  const shape = inspect(json);
  return explain(conclude(shape, inspectPaymentRequired(shape)), { json, kind: 'required' });
}

/** Decodes a PAYMENT-REQUIRED header: `header_too_large`, `payment_malformed` or `payment_version_unsupported`. */
export function decodePaymentRequired(value: string): Outcome<PaymentRequired> {
  const opened = openHeader(value);
  return opened.ok ? readPaymentRequired(opened.value) : opened;
}

/** The JSON form of PaymentRequirements; an amount outside 0..2^256 - 1 throws RangeError. */
export function writePaymentRequirements(requirements: PaymentRequirements): JsonObject {
  return {
    scheme: requirements.scheme,
    network: requirements.network,
    asset: requirements.asset,
    amount: formatAmount(requirements.amount),
    payTo: requirements.payTo,
    maxTimeoutSeconds: requirements.maxTimeoutSeconds,
    extra: requirements.extra,
  };
}

/** The JSON form of a ResourceInfo in the specification's order. */
export function writeResource(resource: ResourceInfo): JsonObject {
  return present<JsonObject>({
    url: resource.url,
    description: resource.description,
    mimeType: resource.mimeType,
    serviceName: resource.serviceName,
    tags: resource.tags,
    iconUrl: resource.iconUrl,
  });
}

/** The JSON form of PaymentRequired, for a body or another transport. */
export function writePaymentRequired(message: PaymentRequired): JsonObject {
  return present<JsonObject>({
    x402Version: message.x402Version,
    error: message.error,
    resource: writeResource(message.resource),
    accepts: message.accepts.map(writePaymentRequirements),
    extensions: message.extensions,
  });
}

/** Stands for the URL while the rest is encoded; no text of a seller's has a control character in it. */
const urlMark = '\u0001url\u0001';

/**
 * Encodes a PAYMENT-REQUIRED header of which only `resource.url` is left open: what {@link encodePaymentRequired}
 * gives for the whole message, in a fraction of its time.
 */
export function prepareRequired(message: PaymentRequired): (url: string) => string {
  const marked = { ...message, resource: { ...message.resource, url: urlMark } };
  const [before = '', after = '', ...more] = headerText(writePaymentRequired(marked)).split(
    JSON.stringify(urlMark),
  );
  if (more.length > 0 || after === '')
    throw new TypeError('A text of this message holds the mark of its URL.');
  return (url) => encodeBase64Text(`${before}${JSON.stringify(url.toWellFormed())}${after}`);
}

/** Encodes a PAYMENT-REQUIRED header; always ASCII. */
export function encodePaymentRequired(message: PaymentRequired): string {
  return sealHeader(writePaymentRequired(message));
}
