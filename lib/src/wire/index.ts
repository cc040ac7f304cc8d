/**
 * `counterfoil/wire`: bytes to messages and back for x402 version 2, with no dependency and no platform beyond
 * what browsers have. Everything that a stranger can cause is a returned value.
 */

export type { Money, MoneyFault, MoneyResult } from './amount.ts';
export { formatAmount, formatMoney, maxAmount, moneyFaults, parseAmount, parseMoney } from './amount.ts';
export type { Base64Fault, Base64Result } from './base64.ts';
export { base64Faults, decodeBase64, encodeBase64, encodeBase64Text } from './base64.ts';
export type { Account, Network } from './caip.ts';
export { eip155ChainId, formatAccount, formatNetwork, parseAccount, parseNetwork } from './caip.ts';
export type { DescribedField, HeaderDescription } from './describe.ts';
export { describeHeader } from './describe.ts';
export type { Dialect, MessageKind, Recognition } from './dialect.ts';
export { dialectNames, recognise, recogniseHeaderName } from './dialect.ts';
export { displayText } from './display.ts';
export { maxHeaderLength, openHeader, sealHeader } from './header.ts';
export type { Hex } from './hex.ts';
export { decodeHex, encodeHex, parseAddress, parseBytes32, parseHex } from './hex.ts';
export type { JsonFault, JsonLimits, JsonResult } from './json.ts';
export {
  describeJsonFault,
  headerJsonLimits,
  isJsonObject,
  jsonFaults,
  maxJsonDepth,
  parseJson,
} from './json.ts';
export {
  decodePaymentRequired,
  encodePaymentRequired,
  readPaymentRequired,
  readPaymentRequirements,
  writePaymentRequired,
  writePaymentRequirements,
} from './required.ts';
export {
  decodePaymentResponse,
  encodePaymentResponse,
  readSettlementResponse,
  writeSettlementResponse,
} from './response.ts';
export { hushed } from './secret.ts';
export {
  decodePaymentSignature,
  encodePaymentSignature,
  readPaymentPayload,
  writePaymentPayload,
} from './signature.ts';
export { decodeUtf8, encodeUtf8 } from './utf8.ts';
export { networkOfV1, paymentHeaderV1, paymentResponseHeaderV1 } from './v1.ts';
export type {
  Json,
  JsonObject,
  PaymentPayload,
  PaymentRequired,
  PaymentRequirements,
  ResourceInfo,
  SettlementResponse,
} from './v2.ts';
export { paymentRequiredHeader, paymentResponseHeader, paymentSignatureHeader } from './v2.ts';
