/**
 * What a sound version 2 message says, in sentences: how much of what, on which chain, to whom, until when.
 * Decimals and symbols come from the table of well-known assets, never from the message.
 */
import { lookupAsset } from 'counterfoil/terms';
import {
  decodePaymentRequired,
  decodePaymentResponse,
  decodePaymentSignature,
  displayText,
  type HeaderDescription,
  isJsonObject,
  type Json,
  type PaymentRequirements,
} from 'counterfoil/wire';
import { formatAsset } from '../money.ts';
import { formatSpan, formatTime } from '../time.ts';

/** Sentences about a header; none where it is not a sound version 2 message. */
export function meaningOf(description: HeaderDescription, value: string, nowMs: number): readonly string[] {
  if (description.dialect !== 'v2' || description.problems.length > 0) return [];
  switch (description.kind) {
    case 'required':
      return requiredMeaning(value);
    case 'signature':
      return signatureMeaning(value, nowMs);
    case 'response':
      return responseMeaning(value);
    case 'unknown':
      return [];
    default:
      return description.kind satisfies never;
  }
}

function requiredMeaning(value: string): readonly string[] {
  const message = decodePaymentRequired(value);
  if (!message.ok) return [];
  return message.value.accepts.map(
    (terms) =>
      `Asks ${price(terms)} on ${terms.network}, to ${displayText(terms.payTo)}, authorized for ${terms.maxTimeoutSeconds} s.`,
  );
}

function signatureMeaning(value: string, nowMs: number): readonly string[] {
  const message = decodePaymentSignature(value);
  if (!message.ok) return [];
  const { accepted, payload } = message.value;
  const authorization = payload.authorization;
  const from = member(authorization, 'from') ?? 'somebody';
  const first = `${from} pays ${price(accepted)} on ${accepted.network} to ${displayText(accepted.payTo)}.`;
  const validBefore = member(authorization, 'validBefore');
  if (validBefore === undefined || !/^\d{1,12}$/.test(validBefore)) return [first];
  const endMs = Number(validBefore) * 1_000;
  const span = formatSpan(Math.abs(endMs - nowMs));
  const when = endMs > nowMs ? `ends in ${span}` : `ended ${span} ago`;
  return [first, `The authorization ${when}, at ${formatTime(endMs)}.`];
}

function responseMeaning(value: string): readonly string[] {
  const message = decodePaymentResponse(value);
  if (!message.ok) return [];
  const { success, transaction, network, errorReason } = message.value;
  const where = `transaction ${displayText(transaction)} on ${network}`;
  if (success) return [`Settled in ${where}.`];
  const why = `Not settled: ${displayText(errorReason ?? 'no reason given')}`;
  return [transaction === '' ? `${why}; no transaction is named.` : `${why}; ${where}.`];
}

function price(terms: PaymentRequirements): string {
  const asset = lookupAsset(terms.network, terms.asset);
  if (asset !== undefined) return formatAsset(terms.amount, asset);
  return `${terms.amount} atomic units of ${displayText(terms.asset)}`;
}

function member(value: Json | undefined, name: string): string | undefined {
  const found = value !== undefined && isJsonObject(value) ? value[name] : undefined;
  return typeof found === 'string' ? displayText(found) : undefined;
}
