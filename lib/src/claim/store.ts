/**
 * The store contract (design section 5). Every operation is one atomic step and one round trip; the rules live
 * in the pure transitions beside this file, so that every store obeys the same ones. Times are the store's own
 * clock: each answer carries it as `nowMs`. A store that cannot be reached rejects; the seller then fails closed.
 */
import type { ClaimRecord, Finality, Flow, Phase, Purchase, Rank, RefusedWhy } from './record.ts';

/** Names the right that `take` or `beginSend` gave. */
export type Hold = { readonly key: string; readonly owner: string; readonly fence: number };

export type LeaseTimes = {
  readonly leaseMs: number;
  /** A running work is taken over only after lease + grace. */
  readonly graceMs: number;
};

/** What must be durable before bytes leave: the payload, sealed, for identical re-sends (design 9.4). */
export type SendStart = {
  readonly payload: Uint8Array;
  readonly startBlock?: number;
};

export type TakeRequest = {
  readonly purchase: Purchase;
  readonly owner: string;
  readonly times: LeaseTimes;
  /** Look for an older payment of the same payer for the same request in the same step. */
  readonly earlierPayment: 'serve' | 'off';
  /** While every run failed unpaid, another request may take this payment's place (never under required binding). */
  readonly mayReplaceRequest: boolean;
  /**
   * The last moment, by the store's clock, at which a payment that was never sent may be taken: judged in this step,
   * so that nobody sends what another copy was told is over.
   */
  readonly notAfterMs?: number;
  /** What one payer may have run up before the money must move first; absent where work never waits for money. */
  readonly exposure?: ExposureLimits;
  /** Flows that move money first begin the send in the same step. */
  readonly begin?: SendStart & { readonly phase: Phase };
};

/** Records of one payer whose work ran, or runs, before its money moved (S01 to S03). */
export type ExposureLimits = {
  /** From so many runs whose payment was then refused, canceled or spent elsewhere, those under way included, it pays first. */
  readonly unpaid: number;
  /** So many runs may be under way at once, whatever is known of the payer. */
  readonly open: number;
};

export type TakeOutcome =
  /** The caller owns the record: work is running (attempt counted), or the first send has begun. */
  | { readonly kind: 'taken'; readonly hold: Hold; readonly record: ClaimRecord; readonly nowMs: number }
  /** The key is known and is answered from its record. */
  | { readonly kind: 'known'; readonly record: ClaimRecord; readonly nowMs: number }
  /** An older payment for the same request is unknown; nothing was stored for the newer one. */
  | { readonly kind: 'earlier_unknown'; readonly older: ClaimRecord; readonly nowMs: number }
  /** The newer payment is now answered from the older, for ever. */
  | {
      readonly kind: 'superseded';
      readonly record: ClaimRecord;
      readonly older: ClaimRecord;
      readonly nowMs: number;
    }
  /** The payer's identifier stands for another payment now; nothing was taken, and a stale owner has lost its fence. */
  | { readonly kind: 'alias_conflict'; readonly other: ClaimRecord; readonly nowMs: number }
  /** This payer's runs went unpaid too often: nothing was taken, and only a flow that moves the money first may take. */
  | { readonly kind: 'pay_first'; readonly nowMs: number }
  /** Past `notAfterMs`: nothing was taken, and a stale owner has lost its fence. */
  | { readonly kind: 'late'; readonly nowMs: number }
  | { readonly kind: 'full'; readonly nowMs: number };

export type HoldOutcome =
  | { readonly kind: 'held'; readonly record: ClaimRecord; readonly nowMs: number }
  /** Somebody else owns it, or it moved on; the record says which. */
  | { readonly kind: 'lost'; readonly record?: ClaimRecord; readonly nowMs: number };

export type BeginOutcome =
  | { readonly kind: 'begun'; readonly hold: Hold; readonly record: ClaimRecord; readonly nowMs: number }
  | { readonly kind: 'known'; readonly record?: ClaimRecord; readonly nowMs: number }
  /** The kept answer was never sent for, and an older payment for the same request is unknown. */
  | { readonly kind: 'earlier_unknown'; readonly older: ClaimRecord; readonly nowMs: number }
  | {
      readonly kind: 'superseded';
      readonly record: ClaimRecord;
      readonly older: ClaimRecord;
      readonly nowMs: number;
    }
  /** The kept answer was never sent for, and the payer's identifier stands for another payment now. */
  | { readonly kind: 'alias_conflict'; readonly other: ClaimRecord; readonly nowMs: number };

/** A fact about money, with who says so. Facts are monotone and may be recorded by anybody who has them. */
export type MoneyFact =
  | {
      readonly fact: 'settled';
      readonly transaction: string;
      readonly amount: bigint;
      readonly by: Rank;
      readonly reason?: string;
      /** Where the chain says so: the block of the transfer, and how deep it was seen. */
      readonly block?: number;
      readonly finality?: Finality;
    }
  /** Looked for better proof of a settlement, and it is not there yet. */
  | { readonly fact: 'unproven' }
  | { readonly fact: 'held'; readonly transaction: string; readonly by: Rank }
  | {
      readonly fact: 'refused';
      readonly why: RefusedWhy;
      readonly reason: string;
      readonly by: 'chain';
      readonly transaction?: string;
      /** The use is foreign for no other reason than that nothing of it was sent from here; else it proves nothing. */
      readonly ifNeverSent?: true;
    }
  /** A facilitator's definite word counts only as the answer to the one send there ever was. */
  | {
      readonly fact: 'refused';
      readonly why: 'definite';
      readonly reason: string;
      readonly by: 'facilitator';
      readonly n: number;
    }
  | { readonly fact: 'unknown'; readonly n: number; readonly reason: string; readonly transaction?: string }
  /** Proof that not one byte of send `n` left; only its own sender may say so. */
  | { readonly fact: 'unsent'; readonly n: number; readonly hold: Hold }
  /** Nothing of it was ever sent, and nothing will be: its authorization ended first. Any new payment is its own. */
  | { readonly fact: 'retired' }
  | { readonly fact: 'voided'; readonly transaction: string; readonly by: Rank }
  | { readonly fact: 'reversed'; readonly transaction: string }
  | { readonly fact: 'refunded'; readonly reference: string };

export type RecordOutcome = {
  readonly record?: ClaimRecord;
  readonly changed: boolean;
  readonly nowMs: number;
};

/** What became of an answer that went to a client. */
export type DeliveryNote =
  | { readonly kind: 'complete'; readonly keepMs: number }
  /** The client is gone, or was told 503: the owner cannot answer any more. */
  | { readonly kind: 'abandoned' }
  /** An operator dealt with it outside, as the reference says; only where money was sent and nobody holds it. */
  | { readonly kind: 'closed'; readonly reference: string };

export type ListQuery = {
  readonly after?: string;
  readonly limit: number;
  readonly money?: ClaimRecord['money']['state'];
  readonly work?: ClaimRecord['work']['state'];
  readonly flow?: Flow;
};

export type ClaimStore = {
  readonly name: string;
  /** False where a restart forgets: such a store refuses to serve several instances. */
  readonly durable: boolean;
  readonly find: (key: string) => Promise<{ readonly record?: ClaimRecord; readonly nowMs: number }>;
  readonly take: (request: TakeRequest) => Promise<TakeOutcome>;
  /** Extends the lease of the owner; `lost` when the fence has moved or the lease was let go. */
  readonly heartbeat: (hold: Hold, leaseMs: number) => Promise<HoldOutcome>;
  /** Work done, answer kept and send begun, in one step (I7). */
  readonly keepAndBeginSend: (
    hold: Hold,
    send: SendStart & { readonly answer: Uint8Array; readonly phase: Phase; readonly leaseMs: number },
  ) => Promise<HoldOutcome>;
  /** An identical re-send of an unknown payment, or the first send of a kept answer. */
  readonly beginSend: (
    key: string,
    send: {
      readonly owner: string;
      readonly leaseMs: number;
      readonly startBlock?: number;
      readonly maxSends: number;
      readonly earlierPayment: 'serve' | 'off';
    },
  ) => Promise<BeginOutcome>;
  readonly recordMoney: (key: string, fact: MoneyFact) => Promise<RecordOutcome>;
  /** Upfront: after money moved, the same owner starts the work. */
  readonly startWork: (hold: Hold, leaseMs: number) => Promise<HoldOutcome>;
  /** Work done where the money moved first; the answer is kept in the same step. */
  readonly finish: (
    hold: Hold,
    result: { readonly answer: Uint8Array; readonly partial: boolean; readonly leaseMs: number },
  ) => Promise<HoldOutcome>;
  readonly fail: (hold: Hold) => Promise<HoldOutcome>;
  /** Gives back a claim whose work never started and whose payment was never sent. */
  readonly release: (hold: Hold) => Promise<HoldOutcome>;
  readonly deliver: (key: string, note: DeliveryNote) => Promise<RecordOutcome>;
  readonly readAnswer: (key: string) => Promise<Uint8Array | undefined>;
  readonly readPayload: (key: string) => Promise<Uint8Array | undefined>;
  /** Records whose money is unknown or whose paid work is owed, oldest first. */
  readonly due: (limit: number) => Promise<readonly ClaimRecord[]>;
  /** Records that no final block shows yet, or that a facilitator alone refused, whose next look is due; the longest due first. */
  readonly unproven: (limit: number) => Promise<readonly ClaimRecord[]>;
  readonly list: (query: ListQuery) => Promise<readonly ClaimRecord[]>;
  /** Forgets what retention allows; returns how many records went. */
  readonly prune: (limit: number) => Promise<number>;
  readonly close: () => Promise<void>;
};
