/**
 * What is looked at before a store is used, and again at each new connection, since after a failover another server
 * answers: whether it keeps what it acknowledges, and whether the data under the prefix is ours. INFO is asked and not
 * CONFIG, which many hosts do not allow.
 */
import { randomUUID } from 'node:crypto';
import { StoreError, type StoreErrorCode } from '../error.ts';

/** The layout of `scripts.ts`; a change that older software cannot read takes the next number. */
export const layout = 1;
/** The oldest whose commands the scripts use; 6.0 is not looked after since 2024. */
const oldestServer = [6, 2] as const;

export type OpeningOptions = {
  /** In braces, with its colon. */
  readonly prefix: string;
  readonly readOnly: boolean;
  readonly persistence: 'aof' | 'any';
  /** What the store was called when it was opened; absent while it is being opened. */
  readonly id?: string | undefined;
};

export type Ask = (command: string, ...args: readonly string[]) => Promise<unknown>;

/** What the server promises: whether it keeps what it has acknowledged. And what the store there is called. */
export type Opened = { readonly durable: boolean; readonly id: string | undefined };

/** Rejects with a {@link StoreError} that says what is wrong with the server or the data. */
export async function inspect(ask: Ask, place: string, options: OpeningOptions): Promise<Opened> {
  const info = factsOf(await ask('INFO'), place);
  checkVersion(info, place);
  if (info.get('loading') === '1') refuse('store_busy', place, 'it still reads its data');
  if (!options.readOnly) checkPromises(info, place, options);
  // First, since nothing may be made where another store was expected.
  if (options.id !== undefined) await checkId(ask, place, options);
  await checkLayout(ask, place, options);
  return { durable: info.get('aof_enabled') === '1', id: options.id ?? (await idOf(ask, options)) };
}

/**
 * A server that comes back empty, or that is another one, would sell everything afresh. Whoever starts the seller again
 * says that it is meant.
 */
async function checkId(ask: Ask, place: string, { prefix, id }: OpeningOptions): Promise<void> {
  const name = `${prefix}id`;
  if ((await ask('TYPE', name)) === 'string' && (await ask('GET', name)) === id) return;
  refuse('store_foreign', place, 'the server has lost this store, or is another one');
}

/** A store that an older version made gets its name now; one that is only looked at may have none. */
async function idOf(ask: Ask, { prefix, readOnly }: OpeningOptions): Promise<string | undefined> {
  const name = `${prefix}id`;
  const there = await ask('GET', name);
  // A server whose memory is used up takes no write, and must still let a seller in that could make room.
  if (there === null && !readOnly) await ask('SET', name, randomUUID(), 'NX');
  const found = there ?? (await ask('GET', name));
  return typeof found === 'string' ? found : undefined;
}

async function checkLayout(ask: Ask, place: string, { prefix, readOnly }: OpeningOptions): Promise<void> {
  const name = `${prefix}layout`;
  if ((await ask('TYPE', name)) === 'none') {
    if (readOnly) refuse('store_unreadable', place, 'there is none under this prefix');
    await ask('SET', name, String(layout), 'NX');
  }
  // Asked only now, since several processes may open a new store together.
  const kind = await ask('TYPE', name);
  const found = kind === 'string' ? await ask('GET', name) : undefined;
  if (typeof found !== 'string' || !/^\d{1,6}$/.test(found)) {
    refuse('store_foreign', place, 'its keys are somebody else’s');
  }
  if (Number(found) > layout) {
    refuse('store_newer', place, `it is of version ${found}, and this software knows ${layout}`);
  }
}

function factsOf(text: unknown, place: string): ReadonlyMap<string, string> {
  if (typeof text !== 'string') refuse('store_unsuitable', place, 'it does not say what it is (INFO)');
  const pairs = text
    .split(/\r?\n/)
    .map((line) => line.split(':'))
    .filter((parts) => parts.length >= 2)
    .map(([name = '', ...rest]) => [name, rest.join(':')] as const);
  return new Map(pairs);
}

function checkVersion(info: ReadonlyMap<string, string>, place: string): void {
  const [major = 0, minor = 0] = (info.get('redis_version') ?? '').split('.').map(Number);
  if (major > oldestServer[0] || (major === oldestServer[0] && minor >= oldestServer[1])) return;
  refuse('store_unsuitable', place, `Redis ${oldestServer.join('.')} or later is needed`);
}

/** A server that does not say is one that does not promise. */
function checkPromises(info: ReadonlyMap<string, string>, place: string, options: OpeningOptions): void {
  if (info.get('role') !== 'master') {
    refuse('store_read_only', place, 'it is a replica, which takes no writes');
  }
  const policy = info.get('maxmemory_policy') ?? 'not told';
  if (policy !== 'noeviction') {
    refuse(
      'store_unsuitable',
      place,
      `maxmemory-policy is ${policy}, which may forget payments to make room; set noeviction`,
    );
  }
  if (options.persistence === 'aof' && info.get('aof_enabled') !== '1') {
    refuse(
      'store_unsuitable',
      place,
      'appendonly is off, so that a restart forgets which payments were used; set appendonly yes, or say persistence: any',
    );
  }
}

function refuse(code: StoreErrorCode, place: string, what: string): never {
  throw new StoreError(code, `The claim store ${place} cannot be used: ${what}.`);
}
