/** What every request to one seller shares; made once by `createSeller`. */
import type { ClaimStore } from '../claim/index.ts';
import type { Binding } from '../payment/index.ts';
import type { Chains, Facilitator, FacilitatorQuestion, Resolution } from '../settlement/index.ts';
import type { Acceptance, Asset, AssetTable } from '../terms/index.ts';
import type { World } from '../world.ts';
import type { Assurance } from './assurance.ts';
import type { Cors } from './cors.ts';
import type { SellerEvent } from './event.ts';
import type { LeaseSettings } from './lease.ts';
import { within } from './limit.ts';
import type { Limits } from './limits/limits.ts';
import type { UnpaidRuns } from './limits/unpaid.ts';
import type { Places } from './place.ts';
import type { Readiness } from './ready.ts';
import type { Roster } from './roster.ts';

export type Shop = {
  readonly world: World;
  readonly store: ClaimStore;
  readonly facilitator: Facilitator;
  readonly chains: Chains;
  readonly places: Places;
  readonly cors: Cors;
  /** What routes ask for that do not say it themselves. */
  readonly binding: Binding;
  readonly assurance: Assurance;
  /** The same, of what a payer may run up. */
  readonly unpaidRuns: UnpaidRuns | undefined;
  readonly limits: Limits;
  readonly roster: Roster;
  /** This boot's random mark, which the start-up self-test looks for. */
  readonly mark: string;
  /** Authenticates quoted prices. */
  readonly quoteKey: Uint8Array;
  readonly accepts: readonly Acceptance[];
  readonly assetList: readonly Asset[];
  readonly assets: AssetTable;
  readonly storeKey: Uint8Array;
  readonly lease: LeaseSettings;
  readonly observe: (event: SellerEvent) => void;
  readonly readiness: Readiness;
  /** Keys that this process is at work on; their copies are answered before any signature is checked. */
  readonly inFlight: Set<string>;
  /** Their headers as they came, with their networks: a copy to the letter is answered before it is even decoded. */
  readonly inFlightTexts: Map<string, string>;
  /** Chain look-ups under way, one a key. */
  readonly lookups: Map<string, Promise<Resolution | 'late'>>;
  /** Facts about money that wait for the store to come back; bounded. */
  readonly untold: { count: number };
  /** Contract wallets being verified now; bounded, since each costs a facilitator call. */
  readonly contracts: { running: number };
  /** Lets the store forget what retention allows, now and then, on the back of paid requests. */
  readonly tidy: () => void;
  /** A fresh owner name for one request. */
  readonly nextOwner: () => string;
};

/** A store that cannot be reached; the seller fails closed on it. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** Longer than any store's own limits; what a store does later than that is fenced, like all that was not heard. */
const storeLimitMs = 30_000;

/** The same store, whose failures all say what they are, and whose silence is one of them. */
export function guardStore(world: Pick<World, 'after'>, store: ClaimStore): ClaimStore {
  const guard =
    <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        const heard = await within(world, storeLimitMs, call(...args));
        if (heard === 'late') throw new Error(`Silence for ${storeLimitMs} ms.`);
        return heard;
      } catch (cause) {
        throw new StoreUnavailable('The claim store did not answer.', { cause });
      }
    };
  return {
    name: store.name,
    durable: store.durable,
    find: guard(store.find),
    take: guard(store.take),
    heartbeat: guard(store.heartbeat),
    keepAndBeginSend: guard(store.keepAndBeginSend),
    beginSend: guard(store.beginSend),
    recordMoney: guard(store.recordMoney),
    startWork: guard(store.startWork),
    finish: guard(store.finish),
    fail: guard(store.fail),
    release: guard(store.release),
    deliver: guard(store.deliver),
    readAnswer: guard(store.readAnswer),
    readPayload: guard(store.readPayload),
    due: guard(store.due),
    unproven: guard(store.unproven),
    list: guard(store.list),
    prune: guard(store.prune),
    close: guard(store.close),
  };
}

/** Later than the call's own limit, so that a transport that keeps its word is heard first. */
const answerSlackMs = 1_000;
/** Reading /supported is not worth more. */
const supportedLimitMs = 10_000;

/**
 * The same facilitator, which never throws and never keeps anybody waiting: one in this process has no time-out of its
 * own, and a settle that hangs would hold its claim for ever. What is not heard in time is not known.
 */
export function guardFacilitator(world: Pick<World, 'after'>, facilitator: Facilitator): Facilitator {
  const heard = async <Answer>(
    limitMs: number,
    ask: () => Promise<Answer>,
    silence: (why: string) => Answer,
  ): Promise<Answer> => {
    try {
      const answer = await within(world, limitMs, ask());
      return answer === 'late' ? silence('timeout') : answer;
    } catch {
      return silence('threw');
    }
  };
  const limitOf = (question: FacilitatorQuestion): number => question.timeoutMs + answerSlackMs;
  return {
    supported: () =>
      heard(
        supportedLimitMs,
        () => facilitator.supported(),
        (why) => ({ kind: 'unavailable', why }),
      ),
    verify: (question, signal) =>
      heard(
        limitOf(question),
        () => facilitator.verify(question, signal),
        (why) => ({ kind: 'unavailable', why }),
      ),
    settle: (question) =>
      heard(
        limitOf(question),
        () => facilitator.settle(question),
        (why) => ({ kind: 'lost', why }),
      ),
  };
}
