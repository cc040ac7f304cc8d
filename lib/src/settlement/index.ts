/** Move the money and find out what became of it: facilitators, chain look-up, reconciliation. */
export { assuranceOf, type Basis, basisOf } from './basis.ts';
export {
  type AuthorizationFate,
  type AuthorizationQuestion,
  type ChainReader,
  createChainReader,
} from './chain.ts';
export {
  createFacilitator,
  type Facilitator,
  type FacilitatorCall,
  type FacilitatorQuestion,
  type FacilitatorTransport,
  type SettleAnswer,
  type SupportedAnswer,
  type SupportedKind,
  type TransportResult,
  type VerifyAnswer,
} from './facilitator.ts';
export { factOfAnswer, factOfFate } from './fact.ts';
export { checkFinality, type Finality, mostConfirmations, parseFinality } from './finality.ts';
export { createRpcPool, type RpcEvent, type RpcPoolOptions } from './pool.ts';
export {
  failsItself,
  knownReason,
  type ReasonClass,
  reasonClass,
  saysNonceUsed,
  unexpectedReason,
} from './reasons.ts';
export { type Recheck, type RecheckQuestion, recheckRecord, type Standing } from './recheck.ts';
export { mostLookups, type ReconcileOptions, type ReconcileSummary, reconcile } from './reconcile.ts';
export { type Chains, type Resolution, resolveRecord } from './resolve.ts';
export { createRpc, type Rpc, type RpcOptions, type RpcResult } from './rpc.ts';
export { startBlockOf, startSlack } from './start.ts';
export {
  type HttpTransportOptions,
  httpTransport,
  type LocalFacilitator,
  localTransport,
  maxFacilitatorBytes,
} from './transport.ts';
