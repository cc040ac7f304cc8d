/**
 * Looks again at what a facilitator alone has concluded, and at a settlement that was not seen at a final block (attacks
 * S05, F01): a block may be reorganised away, a success may never have happened, and what was refused may have landed. Only what is gone for good, at a final block, undoes a
 * settlement; what is merely missing is watched, since the same bytes may land again while their time is not over.
 */
import type { ClaimRecord, ClaimStore, MoneyAxis, MoneyFact, RecordOutcome } from '../claim/index.ts';
import type { AuthorizationFate, ChainReader } from './chain.ts';
import { factOfFate } from './fact.ts';
import { mostConfirmations } from './finality.ts';
import { askFate, type Chains, type Resolution } from './resolve.ts';

/**
 * `final`: seen at a final block, for good. `there`: in a block that may still change. `missing`: settled once, and not
 * on the chain now. `undone`: it can never come back, and the record says so. `early`: too young to judge, or the
 * endpoint is behind what was seen already. `landed`: a facilitator had refused it, and the chain shows the transfer.
 * `dead`: so it was, and so the chain says. `moved_on`: the record says something else by now.
 */
export type Standing =
  | 'final'
  | 'there'
  | 'missing'
  | 'undone'
  | 'early'
  | 'landed'
  | 'dead'
  | 'unread'
  | 'no_chain'
  | 'moved_on';

export type Recheck = Pick<Resolution, 'record' | 'fate' | 'changed' | 'nowMs'> & {
  readonly before: ClaimRecord;
  readonly standing: Standing;
};

export type RecheckQuestion = {
  readonly key: string;
  /**
   * What becomes of the next look where this one could ask nobody or was told nothing: it is postponed, so that others
   * get their turn, which is the default, or left as it was, as by hand.
   */
  readonly whenUnread?: 'postpone' | 'leave';
};

/** A transaction that a facilitator has just named may be a few blocks away from the endpoint that is asked. */
const soonestDoubtMs = 30_000;

type Settled = MoneyAxis & { readonly state: 'settled' };
type Held = ClaimRecord & { readonly money: Settled };

/** Asks the chain about one such record, as deep as the chain can say, and records what it proves. */
export async function recheckRecord(
  store: ClaimStore,
  chains: Chains,
  question: RecheckQuestion,
): Promise<Recheck | undefined> {
  const { key } = question;
  const { record, nowMs } = await store.find(key);
  if (record === undefined) return undefined;
  const still = { record, before: record, changed: false, nowMs };
  const { money } = record;
  if (!isSettled(record) && (money.state !== 'refused' || money.rank !== 'facilitator'))
    return { ...still, fate: { kind: 'unread', why: 'concluded since' }, standing: 'moved_on' };
  const chain = chains(record.network);
  if (chain === undefined) {
    if (question.whenUnread !== 'leave') await store.recordMoney(key, { fact: 'unproven' });
    return { ...still, fate: { kind: 'no_chain' }, standing: 'no_chain' };
  }
  const fate = isSettled(record)
    ? await askFate(chain, questionOf(record), 'finalized')
    : await askFate(chain, record, record.assurance ?? 'latest');
  if (fate.kind === 'unread' && question.whenUnread === 'leave')
    return { ...still, fate, standing: 'unread' };
  if (!isSettled(record)) return recheckRefused(store, fate, still);
  const standing = await judge(chain, record, { fate, nowMs });
  const told = await writeDown(store, record, { fate, standing });
  return {
    ...still,
    record: told.record ?? record,
    changed: told.changed,
    nowMs: told.nowMs,
    fate,
    standing,
  };
}

/** A facilitator refused it and may have sent it all the same: until its time is over the chain may yet show it. */
async function recheckRefused(
  store: ClaimStore,
  fate: AuthorizationFate,
  still: Omit<Recheck, 'fate' | 'standing'>,
): Promise<Recheck> {
  const { record } = still;
  const fact = factOfFate(fate, record);
  const told = await store.recordMoney(record.key, fact ?? { fact: 'unproven' });
  const concluded = fact?.fact === 'settled' ? 'landed' : 'dead';
  const open = fate.kind === 'unread' ? 'unread' : 'early';
  const standing = told.changed ? concluded : open;
  return {
    ...still,
    record: told.record ?? record,
    changed: told.changed,
    nowMs: told.nowMs,
    fate,
    standing,
  };
}

function isSettled(record: ClaimRecord): record is Held {
  return record.money.state === 'settled';
}

/**
 * Whether the use is ours was decided when the chain first showed it. Heights that were noted before a reorganisation
 * say nothing about where the same use lands afterwards, so they only bound the search then.
 */
function questionOf(record: Held): ClaimRecord {
  if (record.money.rank !== 'chain' || record.startBlock === undefined) return record;
  return { ...record, startBlock: Math.max(0, record.startBlock - mostConfirmations) };
}

async function judge(
  chain: ChainReader,
  record: Held,
  look: { readonly fate: AuthorizationFate; readonly nowMs: number },
): Promise<Standing> {
  const { fate, nowMs } = look;
  switch (fate.kind) {
    case 'settled':
      return 'final';
    case 'shallow':
      return fate.as === 'settled' || isOurs(fate, record) ? 'there' : doubt(record, nowMs);
    case 'canceled':
    case 'used_elsewhere':
      return isOurs(fate, record) ? 'there' : 'undone';
    case 'expired':
      return 'undone';
    case 'unused':
      return (await isBehind(chain, record)) ? 'early' : doubt(record, nowMs);
    case 'unread':
      return 'unread';
    default:
      return fate satisfies never;
  }
}

/** The chain itself showed this very transaction as our settlement, whatever heights say now. */
function isOurs(fate: { readonly transaction: string }, { money }: Held): boolean {
  return money.rank === 'chain' && money.transaction === fate.transaction;
}

function doubt(record: Held, nowMs: number): Standing {
  const settledAtMs = record.sendLog.findLast(({ said }) => said === 'settled')?.atMs ?? record.createdAtMs;
  return nowMs - settledAtMs < soonestDoubtMs ? 'early' : 'missing';
}

/** An endpoint that has not reached the block of the settlement cannot miss it (F10). */
async function isBehind(chain: ChainReader, { money }: Held): Promise<boolean> {
  if (money.block === undefined) return false;
  try {
    const newest = await chain.blockNumber();
    return newest === undefined || newest < money.block;
  } catch {
    return true;
  }
}

async function writeDown(
  store: ClaimStore,
  record: Held,
  seen: { readonly fate: AuthorizationFate; readonly standing: Standing },
): Promise<RecordOutcome> {
  const { fate, standing } = seen;
  const { key, money } = record;
  switch (standing) {
    case 'final':
    case 'undone': {
      const fact = finalFact(record, fate);
      return store.recordMoney(key, fact ?? { fact: 'unproven' });
    }
    case 'there': {
      const shown = money.rank === 'facilitator' ? shownFact(record, fate) : undefined;
      const told = shown === undefined ? undefined : await store.recordMoney(key, shown);
      const later = await store.recordMoney(key, { fact: 'unproven' });
      return { ...later, changed: told?.changed === true };
    }
    case 'missing':
    case 'early':
    case 'landed':
    case 'dead':
    case 'unread':
    case 'no_chain':
    case 'moved_on':
      return store.recordMoney(key, { fact: 'unproven' });
    default:
      return standing satisfies never;
  }
}

/** What the chain had shown was reversed; what only a facilitator had asserted never happened. */
function finalFact(record: Held, fate: AuthorizationFate): MoneyFact | undefined {
  const { money } = record;
  if (fate.kind === 'settled' || money.rank === 'facilitator') return factOfFate(fate, record);
  return { fact: 'reversed', transaction: money.transaction };
}

/** The chain shows what a facilitator has asserted, so far. */
function shownFact(record: Held, fate: AuthorizationFate): MoneyFact | undefined {
  if (fate.kind !== 'shallow' || fate.as !== 'settled') return undefined;
  const { transaction, block, confirmations } = fate;
  const finality = confirmations === 1 ? 'latest' : Math.min(confirmations, mostConfirmations);
  return { fact: 'settled', transaction, amount: record.amount, by: 'chain', block, finality };
}
