/** Reads a claim store in pages. The order is that of the keys, which says nothing about time. */
import type { ClaimRecord, ClaimStore, ListQuery } from 'counterfoil/claim';

/** Records of one round trip. */
const pageSize = 500;
/** A search reads so many; a larger store is searched further from where it stopped. */
const scanLimit = 200_000;

/** A record, or where a search was given up before the end. */
export type Scanned = ClaimRecord | { readonly stoppedAt: string };

/** Every record that fits, page by page; the last thing said of a larger store is where the search stopped. */
export async function* search(
  store: Pick<ClaimStore, 'list'>,
  filter: Omit<ListQuery, 'limit' | 'after'> = {},
  start?: string,
): AsyncGenerator<Scanned> {
  let after = start;
  for (let read = 0; read < scanLimit; read += pageSize) {
    const page = await store.list({ ...filter, limit: pageSize, ...(after === undefined ? {} : { after }) });
    yield* page;
    after = page.at(-1)?.key;
    if (page.length < pageSize) return;
  }
  if (after !== undefined) yield { stoppedAt: after };
}

/** The same as a stream of records, at most `scanLimit` of them. */
export async function* scan(
  store: Pick<ClaimStore, 'list'>,
  filter: Omit<ListQuery, 'limit' | 'after'> = {},
): AsyncGenerator<ClaimRecord> {
  for await (const scanned of search(store, filter)) if (!('stoppedAt' in scanned)) yield scanned;
}

/** Enough to show that a text is not unique, and to choose from. */
const mostMatches = 5;

/** The records that a person may mean: by whole key, or by the beginning of key, nonce or transaction. */
export async function findByText(
  store: Pick<ClaimStore, 'list' | 'find'>,
  text: string,
): Promise<readonly ClaimRecord[]> {
  const exact = text.length <= 256 ? (await store.find(text)).record : undefined;
  if (exact !== undefined) return [exact];
  const wanted = text.toLowerCase();
  const matches: ClaimRecord[] = [];
  for await (const record of scan(store)) {
    if (!namesOf(record).some((name) => name.startsWith(wanted))) continue;
    matches.push(record);
    if (matches.length === mostMatches) break;
  }
  return matches;
}

function namesOf(record: ClaimRecord): readonly string[] {
  const transaction = transactionOf(record);
  const named = transaction === undefined ? [record.nonce] : [record.nonce, transaction];
  return [record.key.toLowerCase(), ...named, ...named.map((hex) => hex.slice(2))];
}

/** The transaction that the record's money names, if there is one. */
export function transactionOf(record: ClaimRecord): string | undefined {
  return 'transaction' in record.money ? record.money.transaction : undefined;
}

/** How a payment is called in tables: the first octets of its nonce, which is random. */
export function shortKey(record: Pick<ClaimRecord, 'nonce'>): string {
  return record.nonce.slice(0, 12);
}
