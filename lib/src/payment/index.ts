/** What is sent: reading, judging and making payments of the exact scheme on EVM chains, and request binding. */

export type { Binding, BindingHeld, BindingQuestion } from './binding.ts';
export { checkBinding } from './binding.ts';
export { canonicalUrl, sameUrl, withoutParameters } from './canonical.ts';
export type { SignOptions } from './client.ts';
export { signExactEvm } from './client.ts';
export type { CommitmentClaim, CommitmentDeclaration, CommittedRequest } from './commitment.ts';
export {
  commitmentExtension,
  commitsTo,
  declareCommitment,
  readCommitment,
  signCommitted,
} from './commitment.ts';
export type { ExactEvmPayment } from './exact.ts';
export { checkPayment, encodePayload, isCounterfactual, parseExactEvm } from './exact.ts';
export { eip3009Key } from './key.ts';
export type { BoundRequest } from './request.ts';
export {
  bindingDigest,
  checkBoundHeaders,
  commitmentDomain,
  committedNonce,
  defaultBoundHeaders,
  fingerprintDomain,
  requestBinding,
  requestDigest,
  saltLength,
} from './request.ts';
export type { SignatureVerdict } from './signature.ts';
export { checkSignature } from './signature.ts';
export type { Authority } from './url.ts';
export { isBindableUrl, parseAuthority, parseOrigin, requestUrl } from './url.ts';
export type { Budget, WindowRule } from './window.ts';
export { checkBudget, checkWindow, defaultBudget, defaultRetentionMs, lastUsableMs } from './window.ts';
