/**
 * Opens the claim store of a seller for a command. A file that is not there is a typing mistake, not a new store.
 */
import { statSync } from 'node:fs';
import type { ClaimStore } from 'counterfoil/claim';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { MisuseError } from './io.ts';

/** Runs `work` on the store in `path` and closes it, whatever happens. Rejects with MisuseError where there is no file. */
export async function withStore<Result>(
  path: string,
  work: (store: ClaimStore) => Promise<Result>,
): Promise<Result> {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) throw new MisuseError(`There is no file ${path}.`);
  if (!file.isFile()) throw new MisuseError(`${path} is not a file.`);
  const store = await openSqliteStore({ path });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
