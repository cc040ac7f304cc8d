/** What the store itself says once all payments of a fleet were served: each is settled, its work is done, nothing is owed. */
import type { ClaimRecord, ClaimStore } from 'counterfoil/claim';

/** Records of one page. */
const pageSize = 500;

/** Every entry that does not fit; `rounds` payments were served, and no other is known. */
export async function auditBooks(
  store: Pick<ClaimStore, 'list' | 'due'>,
  rounds: number,
): Promise<readonly string[]> {
  const records: ClaimRecord[] = [];
  for (let after: string | undefined, more = true; more; after = records.at(-1)?.key) {
    const page = await store.list({ limit: pageSize, ...(after === undefined ? {} : { after }) });
    records.push(...page);
    more = page.length === pageSize;
  }
  const due = await store.due(pageSize);
  const count = records.length === rounds ? [] : [`S4: ${records.length} records of ${rounds} payments`];
  const open = records.flatMap(({ key, money, work }) =>
    money.state === 'settled' && work.state === 'done'
      ? []
      : [`S4: ${key} is ${money.state} and its work ${work.state}, though it was served`],
  );
  return [...count, ...open, ...due.map(({ key }) => `S4: ${key} is on the list of what is due`)];
}
