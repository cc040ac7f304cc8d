/** What is asked: assets, prices, payment requirements, and whether a payment is for them. */
export type { Asset, AssetDefinition, AssetTable } from './assets.ts';
export { createAssetTable, defineAsset, lookupAsset, wellKnownAssets } from './assets.ts';
export type { BazaarInput, BazaarOptions, BazaarOutput, BazaarPart } from './bazaar.ts';
export { declareBazaar } from './bazaar.ts';
export { declarePaymentIdentifier, readPaymentIdentifier } from './identifier.ts';
export { matchRequirement } from './match.ts';
export type { AssetAmount, Price, PriceOf, Prices } from './price.ts';
export type { Acceptance, Flow, Quote, Terms, TermsOptions } from './requirements.ts';
export { buildRequirements, createQuote, defaultMaxTimeoutSeconds, defineTerms } from './requirements.ts';
export type { DroppedField, ResourceDescription, ResourceOptions } from './resource.ts';
export { describeResource } from './resource.ts';
export type { Priced, Siblings } from './siblings.ts';
export { ditherOffsets, findSiblings, withOffset } from './siblings.ts';
