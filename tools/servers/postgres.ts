/**
 * A real PostgreSQL for tests: a cluster of its own in a folder that goes when it stops, on a free port of 127.0.0.1.
 * It syncs every commit to disk unless told otherwise, as a seller's must. PostgreSQL refuses to run as root; then it
 * runs as the account that its package made, or as nobody.
 */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { locate } from '../setup.ts';
import { type Account, type Daemon, DaemonError, runTool, startDaemon } from './daemon.ts';
import { refuseUnknown, requireProgram } from './options.ts';
import { onFreePort } from './port.ts';

/** Settings by their names in postgresql.conf, such as `{ synchronous_commit: 'off' }`. */
export type PostgresOptions = { readonly settings?: Readonly<Record<string, string>> };

/** A running PostgreSQL; `url` names the database `postgres`, which whoever connects owns. */
export type Postgres = Daemon & {
  readonly url: string;
  readonly port: number;
  /** Makes an empty database and resolves with its URL. */
  readonly createDatabase: () => Promise<string>;
};

/** The superuser of the cluster; trusted without a password, for nobody else's machine can reach it. */
const owner = 'postgres';

/** Small and quick to start; what keeps data safe stays at PostgreSQL's own defaults. */
const smallSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  shared_buffers: '16MB',
  max_wal_size: '128MB',
  // In the folder and not in the system's shared memory, where a killed server would leave it behind.
  dynamic_shared_memory_type: 'mmap',
};

/** Makes a cluster, starts its server and resolves when it takes connections. */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  refuseUnknown(options, ['settings']);
  // Its tools are beside the program itself, not beside a link to it.
  const program = realpathSync(requireProgram('postgres'));
  const account = unprivileged('/etc/passwd');
  return onFreePort(async (port) => {
    const folder = mkdtempSync(join(tmpdir(), 'counterfoil-postgres-'));
    if (account !== undefined) chownSync(folder, account.uid, account.gid);
    const daemon = await startDaemon({
      program,
      args: postgresArguments(options, folder, port),
      folder,
      ...(account === undefined ? {} : { account }),
      prepare: async () => makeCluster(dirname(program), folder, account),
      signals: { stop: 'SIGINT', end: 'SIGQUIT' },
      ready: (pid) => isReady(folder, pid),
      finish: () => releaseMemory(folder),
    });
    const base = `postgres://${owner}@127.0.0.1:${port}`;
    let databases = 0;
    const createDatabase = async (): Promise<string> => {
      databases += 1;
      const name = `test${databases}`;
      const place = ['--host', '127.0.0.1', '--port', String(port), '--username', owner];
      await runTool(join(dirname(program), 'createdb'), [...place, name], { folder: '/' });
      return `${base}/${name}`;
    };
    // Its pid changes with a restart, so the object itself gets more members and is not copied.
    return Object.assign(daemon, { url: `${base}/postgres`, port, createDatabase });
  });
}

async function makeCluster(programs: string, folder: string, account: Account | undefined): Promise<void> {
  const style = ['--auth', 'trust', '--username', owner, '--encoding', 'UTF8', '--no-locale', '--no-sync'];
  await runTool(join(programs, 'initdb'), ['--pgdata', join(folder, 'data'), ...style], {
    folder,
    ...(account === undefined ? {} : { account }),
  });
}

function postgresArguments(options: PostgresOptions, folder: string, port: number): readonly string[] {
  const settings = {
    ...smallSettings,
    port: String(port),
    unix_socket_directories: folder,
    ...options.settings,
  };
  const named = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', join(folder, 'data'), ...named];
}

/** What the server writes about itself, which pg_ctl reads as well; no lines when it ended politely. */
function status(folder: string): readonly string[] {
  try {
    const lines = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8')
      .trimEnd()
      .split('\n');
    return lines.map((line) => line.trim());
  } catch {
    return [];
  }
}

/** Its pid stands in the first line and its state in the last. */
function isReady(folder: string, pid: number): boolean {
  const lines = status(folder);
  return lines[0] === String(pid) && lines.at(-1) === 'ready';
}

/** A killed server leaves a few bytes of System V memory, named in the seventh line; the next start would take them. */
function releaseMemory(folder: string): void {
  const [, id] = status(folder)[6]?.split(/\s+/) ?? [];
  const remover = locate('ipcrm');
  if (id !== undefined && remover !== undefined) spawnSync(remover, ['-m', id], { stdio: 'ignore' });
}

/** The account to run as when we are root; undefined when we are somebody already. */
export function unprivileged(
  passwd: string,
  uid: number | undefined = process.getuid?.(),
): Account | undefined {
  if (uid !== 0) return undefined;
  const accounts = readFileSync(passwd, 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const found = accounts.find((fields) => fields[0] === name);
    if (found !== undefined) return { uid: Number(found[2]), gid: Number(found[3]) };
  }
  throw new DaemonError('PostgreSQL does not run as root, and there is no account postgres or nobody.');
}

let shared: Promise<Postgres> | undefined;

/**
 * An empty database in the one PostgreSQL of this process, for tests that neither stop nor crash it. The server starts
 * at the first call and ends with the process.
 */
export async function sharedPostgres(): Promise<{ readonly url: string }> {
  shared ??= startPostgres();
  const { createDatabase } = await shared;
  return { url: await createDatabase() };
}
