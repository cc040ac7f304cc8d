/** `counterfoil payments list` and `show`: what a seller's claim store knows of its payments. It changes nothing. */
import type { ClaimRecord, ListQuery } from 'counterfoil/claim';
import { displayText } from 'counterfoil/wire';
import { colorsOf, exits, type Io, MisuseError, writeJson } from '../io.ts';
import { lookIntoStore } from '../open.ts';
import { findByText, shortKey } from './scan.ts';
import { listTable, rowOf, showJson, showText } from './view.ts';

export type ListOptions = {
  readonly store: string;
  readonly limit: number;
  readonly money?: string;
  readonly work?: string;
  readonly after?: string;
  readonly json?: boolean;
};

export type ShowOptions = { readonly store: string; readonly json?: boolean };

type Money = ClaimRecord['money']['state'];
type Work = ClaimRecord['work']['state'];

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

/** Prints one page of payments. */
export async function listPayments(options: ListOptions, io: Io): Promise<number> {
  const query = queryOf(options);
  const page = await lookIntoStore(options.store, (store) => store.list(query));
  const nowMs = io.nowMs();
  const next = page.length === options.limit ? page.at(-1)?.key : undefined;
  if (options.json === true) {
    writeJson(io, { payments: page.map((record) => rowOf(record, nowMs)), next: next ?? null });
    return exits.holds;
  }
  if (page.length === 0) io.stderr.write('No payment fits.\n');
  else io.stdout.write(listTable(page, nowMs, colorsOf(io, io.stdout)));
  if (next !== undefined) io.stderr.write(`There may be more: --after ${next}\n`);
  return exits.holds;
}

/** Prints one payment; exit code 1, and null as JSON, where there is none. */
export async function showPayment(text: string, options: ShowOptions, io: Io): Promise<number> {
  if (text.length < 4)
    throw new MisuseError('Give at least four characters of the key, nonce or transaction.');
  const found = await lookIntoStore(options.store, (store) => findByText(store, text));
  const [record, ...others] = found;
  if (record === undefined) {
    if (options.json === true) writeJson(io, null);
    io.stderr.write(`No payment of this store begins with ${displayText(text)}.\n`);
    return exits.fails;
  }
  if (others.length > 0) {
    const names = found.map(shortKey).join(', ');
    throw new MisuseError(
      `${displayText(text)} is the beginning of several payments: ${names}. Give more of it.`,
    );
  }
  if (options.json === true) writeJson(io, showJson(record, io.nowMs()));
  else io.stdout.write(showText(record, io.nowMs(), colorsOf(io, io.stdout)));
  return exits.holds;
}

function queryOf(options: ListOptions): ListQuery {
  const { limit, money, work, after } = options;
  return {
    limit,
    ...(after === undefined ? {} : { after }),
    ...(money === undefined ? {} : { money: stateIn(moneyStates, '--money', money) }),
    ...(work === undefined ? {} : { work: stateIn(workStates, '--work', work) }),
  };
}

function stateIn<State extends string>(
  states: Readonly<Record<State, true>>,
  name: string,
  text: string,
): State {
  if (isState(states, text)) return text;
  throw new MisuseError(`${name} is one of ${Object.keys(states).join(', ')}, not "${text}".`);
}

function isState<State extends string>(states: Readonly<Record<State, true>>, text: string): text is State {
  return Object.hasOwn(states, text);
}
