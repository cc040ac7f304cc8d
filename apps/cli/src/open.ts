/**
 * Opens the claim store of a seller for a command. A file that is not there is a typing mistake, not a new store.
 */
import { statSync } from 'node:fs';
import type { ClaimStore } from 'counterfoil/claim';
import { openSqliteStore } from 'counterfoil/stores/sqlite';
import { MisuseError } from './io.ts';

type Work<Result> = (store: ClaimStore) => Promise<Result>;

/** Runs `work` on the store in `path` and closes it, whatever happens. Rejects with MisuseError where there is no file. */
export async function withStore<Result>(path: string, work: Work<Result>): Promise<Result> {
  checkFile(path);
  return closing(await openSqliteStore({ path }), work);
}

/** The same for a look: the file is not migrated, and nothing in its folder changes. */
export async function lookIntoStore<Result>(path: string, work: Work<Result>): Promise<Result> {
  checkFile(path);
  return closing(await openSqliteStore({ path, readOnly: true }), work);
}

async function closing<Result>(store: ClaimStore, work: Work<Result>): Promise<Result> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function checkFile(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) throw new MisuseError(`There is no file ${path}.`);
  if (!file.isFile()) throw new MisuseError(`${path} is not a file.`);
  if (file.size === 0) throw new MisuseError(`${path} is empty and no claim store.`);
}
