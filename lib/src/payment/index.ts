/** What is sent: reading, judging and making payments of the exact scheme on EVM chains, and request binding. */
export type { SignOptions } from './client.ts';
export { signExactEvm } from './client.ts';
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
export type { AuthorityFinding } from './url.ts';
export { compareAuthority, isBindableUrl, parseOrigin, requestUrl } from './url.ts';
export type { Budget, WindowRule } from './window.ts';
export { checkBudget, checkWindow, defaultBudget, defaultRetentionMs, lastUsableMs } from './window.ts';
