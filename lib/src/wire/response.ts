/**
 * PAYMENT-RESPONSE: what became of the money (x402 v2 section 5.4). A facilitator's answer to /settle has the
 * same shape.
 */

import type { Outcome } from '../problem.ts';
import { formatAmount } from './amount.ts';
import { explain } from './dialect.ts';
import { openHeader, sealHeader } from './header.ts';
import type { Shape } from './shape.ts';
import {
  anyText,
  boolean,
  conclude,
  identifierText,
  inspect,
  networkText,
  optionalAmount,
  optionalObject,
  optionalText,
  present,
  text,
  transactionText,
} from './shape.ts';
import type { Json, JsonObject, SettlementResponse } from './v2.ts';

/** Reads a SettlementResponse; the faults are in the shape's findings. */
export function inspectSettlementResponse(shape: Shape): SettlementResponse {
  return present<SettlementResponse>({
    success: boolean(shape, 'success'),
    errorReason: optionalText(shape, 'errorReason', anyText),
    payer: optionalText(shape, 'payer', identifierText),
    transaction: text(shape, 'transaction', transactionText),
    network: text(shape, 'network', networkText),
    amount: optionalAmount(shape, 'amount'),
    extensions: optionalObject(shape, 'extensions'),
    extra: optionalObject(shape, 'extra'),
  });
}

/** Reads a SettlementResponse from strict JSON; `success` is a boolean and nothing like one (attack F02). */
export function readSettlementResponse(json: Json): Outcome<SettlementResponse> {
  const shape = inspect(json);
  return explain(conclude(shape, inspectSettlementResponse(shape)), { json, kind: 'response' });
}

/** Decodes a PAYMENT-RESPONSE header: `header_too_large`, `payment_malformed` or `payment_version_unsupported`. */
export function decodePaymentResponse(value: string): Outcome<SettlementResponse> {
  const opened = openHeader(value);
  return opened.ok ? readSettlementResponse(opened.value) : opened;
}

/** The JSON form of a SettlementResponse; an amount outside 0..2^256 - 1 throws RangeError. */
export function writeSettlementResponse(message: SettlementResponse): JsonObject {
  return present<JsonObject>({
    success: message.success,
    errorReason: message.errorReason,
    payer: message.payer,
    transaction: message.transaction,
    network: message.network,
    amount: message.amount === undefined ? undefined : formatAmount(message.amount),
    extensions: message.extensions,
    extra: message.extra,
  });
}

/** Encodes a PAYMENT-RESPONSE header; always ASCII. */
export function encodePaymentResponse(message: SettlementResponse): string {
  return sealHeader(writeSettlementResponse(message));
}
