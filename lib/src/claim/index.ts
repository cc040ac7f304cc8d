/** Take it once: the record, its two axes, the store contract. */
export { type AliasView, aliasAtStake, aliasLimit, claimedAlias } from './alias.ts';
export { decodeRecord, encodeRecord } from './codec.ts';
export { blocksFromMs, blocksNow, lookEarlier, type OlderView, olderLimit } from './earlier.ts';
export {
  countExposure,
  type Exposure,
  type ExposureView,
  exposedPayer,
  mustPayFirst,
  openUntilMs,
  payerName,
} from './exposure.ts';
export { recordMoney } from './money.ts';
export {
  atLeast,
  type ClaimRecord,
  everSent,
  type Finality,
  type Flow,
  type Lease,
  leaseAlive,
  type MoneyAxis,
  moneyDead,
  moneyMoved,
  moneyNow,
  type Phase,
  type Purchase,
  type Rank,
  type RefusedWhy,
  type SendEntry,
  sendLogLimit,
  type WorkAxis,
} from './record.ts';
export {
  answerForgetAtMs,
  answerForgettable,
  dueFromMs,
  forgetAnswer,
  forgetAtMs,
  forgettable,
  needsAttention,
  needsProof,
  proofFromMs,
  reorgWindowMs,
  retainMs,
  skewMs,
} from './retention.ts';
export { type BeginRequest, beginSend } from './send.ts';
export type { Change, Step } from './step.ts';
export type {
  BeginOutcome,
  ClaimStore,
  DeliveryNote,
  ExposureLimits,
  Hold,
  HoldOutcome,
  LeaseTimes,
  ListQuery,
  MoneyFact,
  RecordOutcome,
  SendStart,
  TakeOutcome,
  TakeRequest,
} from './store.ts';
export { type TakeView, take } from './take.ts';
export { deliver, fail, finish, heartbeat, keepAndBeginSend, release, startWork } from './work.ts';
