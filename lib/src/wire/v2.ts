/**
 * The messages of x402 version 2 as this project holds them in memory: amounts are `bigint`, times are
 * milliseconds only where a name ends in `Ms`; everything else keeps the wire's own unit.
 * Source: x402 specification v2, sections 5.1 to 5.4.
 */

/** JSON as the strict parser returns it; objects have no prototype. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** What is sold, as the 402 describes it (section 5.1). */
export type ResourceInfo = {
  readonly url: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly serviceName?: string;
  readonly tags?: readonly string[];
  readonly iconUrl?: string;
};

/** One way to pay: an entry of `accepts` (section 5.1). `amount` is in atomic units of `asset`. */
export type PaymentRequirements = {
  readonly scheme: string;
  /** CAIP-2, canonical. */
  readonly network: string;
  readonly amount: bigint;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: JsonObject;
};

export type PaymentRequired = {
  readonly x402Version: 2;
  readonly error?: string;
  readonly resource: ResourceInfo;
  readonly accepts: readonly PaymentRequirements[];
  readonly extensions?: JsonObject;
};

/** What the buyer sends (section 5.2); `payload` is the scheme's own object and is parsed by the scheme. */
export type PaymentPayload = {
  readonly x402Version: 2;
  readonly resource?: ResourceInfo;
  readonly accepted: PaymentRequirements;
  readonly payload: JsonObject;
  readonly extensions?: JsonObject;
};

/** What PAYMENT-RESPONSE carries (section 5.4). `transaction` is `''` where nothing was broadcast. */
export type SettlementResponse = {
  readonly success: boolean;
  readonly errorReason?: string;
  readonly payer?: string;
  readonly transaction: string;
  readonly network: string;
  readonly amount?: bigint;
  readonly extensions?: JsonObject;
  /** What the scheme adds (not in section 5.4; the reference packages carry it). */
  readonly extra?: JsonObject;
};

/** The three header names of the HTTP transport, lower case as Node and fetch deliver them. */
export const paymentRequiredHeader = 'payment-required';
export const paymentSignatureHeader = 'payment-signature';
export const paymentResponseHeader = 'payment-response';
