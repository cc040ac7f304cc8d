/** `counterfoil payments list` and `show`: what a seller's claim store knows of its payments. They change nothing. */
import type { ClaimRecord, ClaimStore } from 'counterfoil/claim';
import { displayText, hushed } from 'counterfoil/wire';
import { colorsOf, exits, type Io, MisuseError, writeJson } from '../io.ts';
import { lookIntoStore, type StoreOptions } from '../open.ts';
import { type FilterOptions, filterOf, findPage } from './filter.ts';
import { findByText, shortKey } from './scan.ts';
import { listTable, rowOf, showJson, showText } from './view.ts';

export type ListOptions = StoreOptions &
  FilterOptions & {
    readonly limit: number;
    readonly after?: string;
    readonly json?: boolean;
  };

export type ShowOptions = StoreOptions & { readonly json?: boolean };

/** Prints one page of payments. */
export async function listPayments(options: ListOptions, io: Io): Promise<number> {
  const nowMs = io.nowMs();
  const filter = filterOf(options, nowMs);
  const { limit, after } = options;
  const { records, next } = await lookIntoStore(options, io, (store) =>
    findPage(store, filter, { limit, after, nowMs }),
  );
  if (options.json === true) {
    writeJson(io, { payments: records.map((record) => rowOf(record, nowMs)), next: next ?? null });
    return exits.holds;
  }
  if (records.length === 0) io.stderr.write('No payment fits.\n');
  else io.stdout.write(listTable(records, nowMs, colorsOf(io, io.stdout)));
  if (next !== undefined) io.stderr.write(`There may be more: --after ${next}\n`);
  return exits.holds;
}

/** Prints one payment; exit code 1, and null as JSON, where there is none. */
export async function showPayment(text: string, options: ShowOptions, io: Io): Promise<number> {
  const record = await lookIntoStore(options, io, (store) => findOne(store, text));
  if (record === undefined) {
    if (options.json === true) writeJson(io, null);
    return noneBegins(text, io);
  }
  if (options.json === true) writeJson(io, showJson(record, io.nowMs()));
  else io.stdout.write(showText(record, io.nowMs(), colorsOf(io, io.stdout)));
  return exits.holds;
}

/** The one payment that is meant, or undefined; a beginning that fits several is a MisuseError. */
export async function findOne(
  store: Pick<ClaimStore, 'list' | 'find'>,
  text: string,
): Promise<ClaimRecord | undefined> {
  if (text.length < 4)
    throw new MisuseError('Give at least four characters of the key, nonce or transaction.');
  const found = await findByText(store, text);
  if (found.length < 2) return found[0];
  const names = found.map(shortKey).join(', ');
  throw new MisuseError(
    `${displayText(hushed(text))} is the beginning of several payments: ${names}. Give more of it.`,
  );
}

/** Says that no payment is meant. */
export function noneBegins(text: string, io: Io): number {
  io.stderr.write(`No payment of this store begins with ${displayText(hushed(text))}.\n`);
  return exits.fails;
}
