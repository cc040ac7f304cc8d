/**
 * The state file: one line of JSON that says what it is, then anvil's own dump as it came, gzip.
 * Written beside, synced, then renamed, so a crash leaves the old file or the new one and never half of either
 * (anvil's own --state file was found truncated after 2 of 40 kills). What cannot be read is never overwritten.
 */
import { createHash } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { isBuyerCount } from './accounts.ts';
import { DevnetError, errorCode, explain } from './failure.ts';

const FORMAT = 'counterfoil-devnet/1';

/** 3,000 blocks are about 15 MB of JSON; far beyond this the boot would take minutes. */
const MAX_STATE_BYTES = 1024 * 1024 * 1024;

/** The first line is under 200 octets; a longer one means that the file is something else. */
const MAX_HEAD_BYTES = 1_024;

const LINE_FEED = 0x0a;

/** What a state file says about its chain: the id, the address of the dollar, how many buyers were funded. */
export type StateAbout = {
  readonly chainId: number;
  readonly dollar: string;
  readonly buyers: number;
};

/** The first line of a state file: what it is of, and the digest of the dump that follows. */
export type StateHead = StateAbout & { readonly sha256: string };

/** A state file that was read and checked: `json` is what anvil loads. */
export type SavedState = { readonly head: StateHead; readonly json: Buffer };

/** What to write: `dump` is the gzip of anvil_dumpState, `expected` the digest the file must still have. */
export type StateWrite = {
  readonly about: StateAbout;
  readonly dump: Uint8Array;
  readonly expected: string | undefined;
};

/** Reads a state file; `undefined` when there is none, {@link DevnetError} when it is not one or not ours. */
export async function readState(file: string, chainId: number): Promise<SavedState | undefined> {
  const bytes = await readIfPresent(file);
  if (bytes === undefined) return undefined;
  const head = parseHead(bytes);
  if (head === undefined) throw corrupt(file, 'it is not a devnet state file');
  if (head.chainId !== chainId) {
    throw new DevnetError(
      'state_other_chain',
      `The state file ${file} is of chain ${head.chainId}, this devnet is chain ${chainId}. Nothing was changed.`,
    );
  }
  const dump = bytes.subarray(bytes.indexOf(LINE_FEED) + 1);
  if (digestOf(dump) !== head.sha256) throw corrupt(file, 'its content does not match its checksum');
  const json = await promisify(gunzip)(dump, { maxOutputLength: MAX_STATE_BYTES }).catch((error: unknown) => {
    throw corrupt(file, explain(error));
  });
  return { head, json };
}

/** Replaces the state file atomically and returns the digest of what is now in it. */
export async function writeState(file: string, state: StateWrite): Promise<string> {
  const sha256 = digestOf(state.dump);
  const current = await readHead(file);
  if (current?.sha256 !== state.expected) {
    throw new DevnetError(
      'state_changed',
      `The state file ${file} was changed by somebody else since this devnet read it. It was left as it is.`,
    );
  }
  const head = JSON.stringify({ format: FORMAT, ...state.about, sha256 });
  try {
    await replaceFile(file, Buffer.concat([Buffer.from(`${head}\n`), state.dump]));
  } catch (error) {
    throw new DevnetError('state_unwritable', `Cannot write the state file ${file}: ${explain(error)}`);
  }
  return sha256;
}

async function replaceFile(file: string, bytes: Uint8Array): Promise<void> {
  const beside = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(beside, 'w', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

/** The rename itself is durable only once the folder is; Windows cannot open one, and does not need to. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** The first line of the file that is there now; a file that is not ours counts as a digest of its own. */
async function readHead(file: string): Promise<{ sha256: string } | undefined> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new DevnetError('state_unwritable', `Cannot read the state file ${file}: ${explain(error)}`);
  });
  if (handle === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    return parseHead(buffer.subarray(0, bytesRead)) ?? { sha256: 'unreadable' };
  } finally {
    await handle.close();
  }
}

function parseHead(bytes: Buffer): StateHead | undefined {
  const end = bytes.subarray(0, MAX_HEAD_BYTES).indexOf(LINE_FEED);
  if (end < 0) return undefined;
  const head = parseJson(bytes.subarray(0, end).toString());
  if (typeof head !== 'object' || head === null) return undefined;
  if (!('format' in head) || head.format !== FORMAT) return undefined;
  if (!('chainId' in head) || typeof head.chainId !== 'number') return undefined;
  if (!('dollar' in head) || typeof head.dollar !== 'string') return undefined;
  if (!('buyers' in head) || typeof head.buyers !== 'number' || !isBuyerCount(head.buyers)) return undefined;
  if (!('sha256' in head) || typeof head.sha256 !== 'string') return undefined;
  const { chainId, dollar, buyers, sha256 } = head;
  return { chainId, dollar, buyers, sha256 };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readIfPresent(file: string): Promise<Buffer | undefined> {
  try {
    const size = (await stat(file)).size;
    if (size > MAX_STATE_BYTES) throw corrupt(file, 'it is larger than any state this program writes');
    return await readFile(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (error instanceof DevnetError) throw error;
    throw new DevnetError('state_corrupt', `Cannot read the state file ${file}: ${explain(error)}`);
  }
}

function corrupt(file: string, why: string): DevnetError {
  return new DevnetError(
    'state_corrupt',
    `The state file ${file} cannot be used: ${why}. Nothing was changed; move it away to begin a new chain.`,
  );
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
