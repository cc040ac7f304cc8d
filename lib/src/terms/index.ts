/** What is asked: assets, prices, payment requirements, and whether a payment is for them. */
export type { Asset, AssetDefinition, AssetTable } from './assets.ts';
export { createAssetTable, defineAsset, lookupAsset, wellKnownAssets } from './assets.ts';
export { matchRequirement } from './match.ts';
export type { AssetAmount, Price, PriceOf, Prices } from './price.ts';
export type { Acceptance, Flow, Quote, Terms, TermsOptions } from './requirements.ts';
export { buildRequirements, createQuote, defaultMaxTimeoutSeconds, defineTerms } from './requirements.ts';
