/**
 * counterfoil-devnet: a real local chain with a test dollar and a real x402 facilitator, for tests and
 * demonstrations. Start one with `startDevnet`, break its facilitator with `startFaultyFacilitator`.
 */
export type { Account, Accounts } from './accounts.ts';
export type { AuthorizationEvent, DevnetChain, Transfer, TransferFilter } from './chain.ts';
export { connectChain, signerOf } from './chain.ts';
export type { Devnet, DevnetOptions, Timings } from './devnet.ts';
export { startDevnet } from './devnet.ts';
export type { Dollar } from './dollar.ts';
export type { FailureCode } from './failure.ts';
export { DevnetError } from './failure.ts';
export type { FaultCall, FaultMode, FaultOptions, FaultyFacilitator } from './fault.ts';
export { startFaultyFacilitator } from './fault.ts';
export type { RunIo, RunOptions } from './main.ts';
export { runDevnet } from './main.ts';
export { requirementsFor, signPayment } from './payment.ts';
export type { PaymentRequest } from './request.ts';
export { NETWORK } from './request.ts';
export type { Fault, FaultAnswer, FaultName } from './spoil.ts';
export { FAULTS } from './spoil.ts';
