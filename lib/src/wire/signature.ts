/**
 * PAYMENT-SIGNATURE: what the buyer sends (x402 v2 section 5.2). The scheme's own `payload` is kept as it came
 * and is parsed by the scheme.
 */

import type { Outcome } from '../problem.ts';
import { explain } from './dialect.ts';
import { openHeader, sealHeader } from './header.ts';
import { inspectRequirements, inspectResource, writePaymentRequirements, writeResource } from './required.ts';
import type { Shape } from './shape.ts';
import {
  conclude,
  inspect,
  nested,
  object,
  optionalNested,
  optionalObject,
  present,
  versionTwo,
} from './shape.ts';
import type { Json, JsonObject, PaymentPayload } from './v2.ts';

/** Reads a PaymentPayload; the faults are in the shape's findings. */
export function inspectPaymentPayload(shape: Shape): PaymentPayload {
  const resource = optionalNested(shape, 'resource');
  return present<PaymentPayload>({
    x402Version: versionTwo(shape),
    resource: resource === undefined ? undefined : inspectResource(resource),
    accepted: inspectRequirements(nested(shape, 'accepted')),
    payload: object(shape, 'payload'),
    extensions: optionalObject(shape, 'extensions'),
  });
}

/** Reads a PaymentPayload from strict JSON (a header, an MCP `_meta`, a facilitator's request body); only version 2. */
export function readPaymentPayload(json: Json): Outcome<PaymentPayload> {
  const shape = inspect(json);
  return explain(conclude(shape, inspectPaymentPayload(shape)), { json, kind: 'signature' });
}

/** Decodes a PAYMENT-SIGNATURE header: `header_too_large`, `payment_malformed` or `payment_version_unsupported`. */
export function decodePaymentSignature(value: string): Outcome<PaymentPayload> {
  const opened = openHeader(value);
  return opened.ok ? readPaymentPayload(opened.value) : opened;
}

/** The JSON form of a PaymentPayload, as a facilitator reads it. */
export function writePaymentPayload(message: PaymentPayload): JsonObject {
  return present<JsonObject>({
    x402Version: message.x402Version,
    resource: message.resource === undefined ? undefined : writeResource(message.resource),
    accepted: writePaymentRequirements(message.accepted),
    payload: message.payload,
    extensions: message.extensions,
  });
}

/** Encodes a PAYMENT-SIGNATURE header; always ASCII. */
export function encodePaymentSignature(message: PaymentPayload): string {
  return sealHeader(writePaymentPayload(message));
}
