/** Which payments of a store a person wants to see. What a store cannot search for is looked for on this side. */
import {
  type ClaimRecord,
  type ClaimStore,
  type ListQuery,
  leaseAlive,
  moneyMoved,
  moneyNow,
} from 'counterfoil/claim';
import { hushed, parseNetwork } from 'counterfoil/wire';
import { MisuseError } from '../io.ts';
import { type Scanned, search } from './scan.ts';

export type FilterOptions = {
  readonly money?: string;
  readonly work?: string;
  readonly flow?: string;
  readonly network?: string;
  readonly payer?: string;
  readonly route?: string;
  readonly owed?: boolean;
  readonly unknown?: boolean;
  readonly canceled?: boolean;
  readonly reversed?: boolean;
  readonly since?: string;
};

export type Filter = {
  readonly query: Pick<ListQuery, 'money' | 'work' | 'flow'>;
  readonly fits: (record: ClaimRecord, nowMs: number) => boolean;
  /** Owed payments are among those that a store has ready. */
  readonly owed: boolean;
};

type Money = ClaimRecord['money']['state'];
type Work = ClaimRecord['work']['state'];
type Flow = ClaimRecord['flow'];

const moneyStates: Readonly<Record<Money, true>> = {
  none: true,
  sending: true,
  held: true,
  settled: true,
  refused: true,
  unknown: true,
  voided: true,
  reversed: true,
  refunded: true,
};
const workStates: Readonly<Record<Work, true>> = {
  idle: true,
  running: true,
  done: true,
  failed: true,
  exhausted: true,
};
const flows: Readonly<Record<Flow, true>> = { authorization: true, upfront: true, escrow: true };

/** Spans before now, and moments as ISO 8601 writes them. */
const spanShape = /^(\d{1,6})(s|min|h|d)$/;
const spanMs: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 };
const momentShape = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z?)?$/;

/** An address, or how it begins. */
const payerShape = /^0x[0-9a-f]{0,40}$/i;

/** Reads the options of `payments list`; what nobody could mean is a MisuseError. */
export function filterOf(options: FilterOptions, nowMs: number): Filter {
  const { route, owed = false } = options;
  const network = networkOf(options.network);
  const payer = payerOf(options.payer);
  const sinceMs = options.since === undefined ? undefined : momentOf(options.since, nowMs);
  const money = moneyOf(options);
  const query = {
    ...(money === undefined ? {} : { money }),
    ...(options.work === undefined ? {} : { work: stateIn(workStates, '--work', options.work) }),
    ...(options.flow === undefined ? {} : { flow: stateIn(flows, '--flow', options.flow) }),
  };
  const fits = (record: ClaimRecord, atMs: number): boolean =>
    (money === undefined || moneyNow(record, atMs).state === money) &&
    (query.work === undefined || record.work.state === query.work) &&
    (query.flow === undefined || record.flow === query.flow) &&
    (network === undefined || record.network === network) &&
    (payer === undefined || record.payer.startsWith(payer)) &&
    (route === undefined || record.route.includes(route)) &&
    (sinceMs === undefined || record.createdAtMs >= sinceMs) &&
    (options.canceled !== true || isCanceled(record)) &&
    (!owed || isOwed(record, atMs));
  return { query, fits, owed };
}

function moneyOf(options: FilterOptions): Money | undefined {
  const named = options.money === undefined ? [] : [stateIn(moneyStates, '--money', options.money)];
  const asked: readonly Money[] = [
    ...named,
    ...(options.unknown === true ? ['unknown' as const] : []),
    ...(options.canceled === true ? ['refused' as const] : []),
    ...(options.reversed === true ? ['reversed' as const] : []),
  ];
  if (new Set(asked).size > 1) throw new MisuseError('Ask for one state of the money at a time.');
  return asked[0];
}

function isCanceled({ money }: ClaimRecord): boolean {
  return money.state === 'refused' && money.why === 'canceled';
}

/** The money moved, nobody got the answer, nobody is at it, and no operator has dealt with it. */
export function isOwed(record: ClaimRecord, nowMs: number): boolean {
  const open = record.deliveredAtMs === undefined && record.closed === undefined;
  return open && moneyMoved(record.money) && !leaseAlive(record, nowMs);
}

function networkOf(text: string | undefined): string | undefined {
  if (text === undefined || parseNetwork(text) !== undefined) return text;
  throw new MisuseError(`--network takes a CAIP-2 name as eip155:8453, not "${hushed(text)}".`);
}

function payerOf(text: string | undefined): string | undefined {
  if (text === undefined || payerShape.test(text)) return text?.toLowerCase();
  throw new MisuseError(`--payer takes an address or its beginning, as 0x12ab, not "${hushed(text)}".`);
}

function momentOf(text: string, nowMs: number): number {
  const [, count, unit] = spanShape.exec(text) ?? [];
  const size = unit === undefined ? undefined : spanMs[unit];
  if (count !== undefined && size !== undefined) return nowMs - Number(count) * size;
  const zoned = text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text;
  const atMs = momentShape.test(text) ? Date.parse(zoned) : Number.NaN;
  if (!Number.isNaN(atMs)) return atMs;
  throw new MisuseError(
    `--since takes a span as 90s, 30min, 2h or 7d, or a date as 2026-01-31, not "${hushed(text)}".`,
  );
}

function stateIn<State extends string>(
  states: Readonly<Record<State, true>>,
  name: string,
  text: string,
): State {
  if (isState(states, text)) return text;
  throw new MisuseError(`${name} is one of ${Object.keys(states).join(', ')}, not "${hushed(text)}".`);
}

function isState<State extends string>(states: Readonly<Record<State, true>>, text: string): text is State {
  return Object.hasOwn(states, text);
}

export type Page = {
  readonly records: readonly ClaimRecord[];
  /** Where the next page begins; undefined at the end. */
  readonly next?: string | undefined;
};

/** As many as a store gives at once; where more wait, the whole store is searched. */
const duePage = 1_000;

/** One page of what fits, in the order of the keys. */
export async function findPage(
  store: Pick<ClaimStore, 'list' | 'due'>,
  filter: Filter,
  page: { readonly limit: number; readonly after?: string | undefined; readonly nowMs: number },
): Promise<Page> {
  const { limit, nowMs } = page;
  const records: ClaimRecord[] = [];
  for await (const scanned of filter.owed
    ? owedOnes(store, page.after)
    : search(store, filter.query, page.after)) {
    if ('stoppedAt' in scanned) return { records, next: scanned.stoppedAt };
    if (!filter.fits(scanned, nowMs)) continue;
    records.push(scanned);
    if (records.length === limit) return { records, next: scanned.key };
  }
  return { records };
}

async function* owedOnes(
  store: Pick<ClaimStore, 'list' | 'due'>,
  after: string | undefined,
): AsyncGenerator<Scanned> {
  const due = await store.due(duePage);
  if (due.length === duePage) yield* search(store, {}, after);
  else
    yield* due
      .filter(({ key }) => after === undefined || key > after)
      .sort((a, b) => (a.key < b.key ? -1 : 1));
}
