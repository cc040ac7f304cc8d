/**
 * The rawest insert-if-absent that each database offers over the client that our store uses, as durable as ours: what
 * a claim costs at the least.
 */
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Place, Till } from './contender.ts';

/** As long as a small record. */
const value = 'v'.repeat(200);
/** As many connections as a pool of pg has unless told otherwise. */
const connections = 10;
/** Longer than the worst wait of four processes for one file. */
const busyMs = 10_000;

/** Opens the bare contender of a place; its pay is its take. */
export async function openBare(place: Place): Promise<Till> {
  const { store } = place.contender;
  switch (store) {
    case 'memory':
      return openMap();
    case 'sqlite':
      return openFile(place.at);
    case 'redis':
      return openRedis(place);
    case 'postgres':
      return openDatabase(place.at);
    default:
      return store satisfies never;
  }
}

function openMap(): Till {
  const kept = new Map<string, string>();
  const take = async (key: string): Promise<boolean> => {
    if (kept.has(key)) return false;
    kept.set(key, value);
    return true;
  };
  return { take, pay: take, close: async () => kept.clear() };
}

function openFile(path: string): Till {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;`);
  database.exec('CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID');
  const insert = database.prepare('INSERT OR IGNORE INTO claims VALUES (?, ?)');
  const take = async (key: string): Promise<boolean> => Number(insert.run(key, value).changes) === 1;
  return { take, pay: take, close: async () => database.close() };
}

async function openRedis({ at, prefix }: Place): Promise<Till> {
  const client = new Redis(at, { lazyConnect: true });
  await client.connect();
  const take = async (key: string): Promise<boolean> =>
    (await client.set(prefix + key, value, 'NX')) === 'OK';
  return { take, pay: take, close: async () => void (await client.quit()) };
}

async function openDatabase(url: string): Promise<Till> {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  await pool.query('CREATE TABLE IF NOT EXISTS claims (key text PRIMARY KEY, value text)');
  const insert = { name: 'insert', text: 'INSERT INTO claims VALUES ($1, $2) ON CONFLICT DO NOTHING' };
  const take = async (key: string): Promise<boolean> =>
    (await pool.query({ ...insert, values: [key, value] })).rowCount === 1;
  return { take, pay: take, close: () => pool.end() };
}
