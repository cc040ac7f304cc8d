/** Move the money and find out what became of it: facilitators, chain look-up, reconciliation. */
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
export { knownReason, type ReasonClass, reasonClass, saysNonceUsed, unexpectedReason } from './reasons.ts';
export {
  type Chains,
  type ReconcileSummary,
  type Resolution,
  reconcile,
  resolveRecord,
} from './reconcile.ts';
export { createRpc, type Rpc, type RpcOptions, type RpcResult } from './rpc.ts';
export {
  type HttpTransportOptions,
  httpTransport,
  type LocalFacilitator,
  localTransport,
  maxFacilitatorBytes,
} from './transport.ts';
