/**
 * What became of an EIP-3009 authorization, read from the chain: `authorizationState`, the AuthorizationUsed or
 * AuthorizationCanceled log, and the Transfer that belongs to it. `unread` is said whenever the chain's answer does
 * not prove more. A use is believed at the depth that was asked for, expiry only at a final block. Source: EIP-3009.
 */
import type { Finality } from './finality.ts';
import { checkFunction } from './option.ts';
import type { Rpc } from './rpc.ts';
import { type BlockTime, quantity, type Reading, readBlock, readUsed } from './state.ts';
import { readUse, type Use } from './use.ts';

/** Which authorization, and what it must have moved. */
export type AuthorizationQuestion = {
  readonly asset: string;
  readonly payer: string;
  readonly nonce: string;
  readonly payTo: string;
  readonly amount: bigint;
  /** Unix milliseconds; at and after this block time the authorization is dead. */
  readonly validBeforeMs: number;
  /** Noted before the first send, best by `startBlockOf`; a use at or below it is not ours. */
  readonly startBlock?: number | undefined;
};

export type AuthorizationFate =
  /**
   * Neither used nor canceled: not at `block`, the highest block of the finality that was asked for, and not at the
   * newest block either. Of a payment that had settled at or below `block` it says that a reorganization took it away
   * (S05); while its time is not over it may still come back.
   */
  | { readonly kind: 'unused'; readonly block: number }
  /** Used, with the very transfer that was signed, in one transaction after `startBlock`. */
  | {
      readonly kind: 'settled';
      readonly transaction: string;
      readonly block: number;
      /** What was asked for and is reached; absent means `latest`. */
      readonly finality?: Finality;
    }
  /** Not used at a final block whose time is past the authorization: it can never move money. */
  | { readonly kind: 'expired'; readonly block: number }
  | { readonly kind: 'canceled'; readonly transaction: string; readonly block: number }
  /** Used before our first send, or without our transfer. */
  | { readonly kind: 'used_elsewhere'; readonly transaction: string; readonly block: number }
  /** It will be `as`, unless a reorganization undoes it, but is not yet as deep as was asked: proves nothing. */
  | {
      readonly kind: 'shallow';
      readonly as: 'settled' | 'canceled' | 'used_elsewhere';
      readonly transaction: string;
      readonly block: number;
      /** 1 in the newest block. */
      readonly confirmations: number;
    }
  | { readonly kind: 'unread'; readonly why: string };

export type ChainReader = {
  readonly blockNumber: () => Promise<number | undefined>;
  /** The newest block and its time, Unix milliseconds. */
  readonly head: () => Promise<{ readonly block: number; readonly timeMs: number } | undefined>;
  /**
   * What became of an authorization, at a finality, default `latest`. Asked again with `finalized` about a payment that
   * has settled it tells all that a re-check needs: `settled` for good, `shallow`, `unused` (gone), or `expired` (gone
   * for good).
   */
  readonly fate: (question: AuthorizationQuestion, finality?: Finality) => Promise<AuthorizationFate>;
  /** True where code exists at the address; undefined when it could not be read. */
  readonly hasCode: (address: string) => Promise<boolean | undefined>;
};

const codeShape = /^0x(?:[0-9a-fA-F]{2})*$/;

/** Reads one chain, through one endpoint or a pool of them; there are no options. Throws TypeError for any. */
export function createChainReader(rpc: Rpc, ...options: readonly never[]): ChainReader {
  checkFunction('rpc', rpc);
  if (options.length > 0) throw new TypeError('createChainReader takes an rpc and no options.');
  return {
    blockNumber: async () => {
      const result = await rpc('eth_blockNumber', []);
      return result.ok ? quantity(result.value) : undefined;
    },
    head: async () => {
      const head = await readBlock(rpc, 'latest');
      return head.ok ? head.value : undefined;
    },
    hasCode: async (address) => {
      const result = await rpc('eth_getCode', [address, 'latest']);
      if (!result.ok || typeof result.value !== 'string' || !codeShape.test(result.value)) return undefined;
      return result.value.length > 2;
    },
    fate: async (question, finality = 'latest') => {
      const fate = await readFate(rpc, question, finality);
      return fate.ok ? fate.value : { kind: 'unread', why: fate.why };
    },
  };
}

/** One look at the chain: the newest block, and the highest block that is deep enough. */
type View = {
  readonly finality: Finality;
  readonly head: BlockTime;
  readonly deep: { readonly block: number; readonly timeMs?: number };
};

async function readFate(
  rpc: Rpc,
  question: AuthorizationQuestion,
  finality: Finality,
): Promise<Reading<AuthorizationFate>> {
  const view = await readView(rpc, finality);
  if (!view.ok) return view;
  const { head } = view.value;
  const used = await readUsed(rpc, question, head.block);
  if (!used.ok) return used;
  if (!used.value) return fateOfUnused(rpc, question, view.value);
  const use = await readUse(rpc, question, head.block);
  return use.ok ? { ok: true, value: fateOfUse(use.value, view.value) } : use;
}

async function readView(rpc: Rpc, finality: Finality): Promise<Reading<View>> {
  const read = await readBlock(rpc, 'latest');
  if (!read.ok) return read;
  const head = read.value;
  if (finality === 'latest') return { ok: true, value: { finality, head, deep: head } };
  if (typeof finality === 'number') {
    return { ok: true, value: { finality, head, deep: { block: Math.max(0, head.block - finality + 1) } } };
  }
  const deep = await readBlock(rpc, finality);
  if (!deep.ok) return deep;
  // An address behind which several nodes stand may tell a newest block that is older than its final one.
  return {
    ok: true,
    value: { finality, head: head.block < deep.value.block ? deep.value : head, deep: deep.value },
  };
}

function fateOfUse({ as, ...at }: Use, view: View): AuthorizationFate {
  // A reorganization may have moved it above the head that was read a moment ago; it is in a block all the same.
  const confirmations = Math.max(1, view.head.block - at.block + 1);
  if (!isDeep(view, at.block, confirmations)) return { kind: 'shallow', as, ...at, confirmations };
  return as === 'settled' ? { kind: as, ...at, finality: view.finality } : { kind: as, ...at };
}

function isDeep({ finality, deep }: View, block: number, confirmations: number): boolean {
  if (finality === 'latest') return true;
  return typeof finality === 'number' ? confirmations >= finality : block <= deep.block;
}

/**
 * What is unused at the newest block was unused at every block below it, if one node tells both; a `safe` or
 * `finalized` block is asked itself, because a record of settled money may be undone for it. A number is not: nodes
 * that keep the newest 128 states could not serve it.
 */
async function fateOfUnused(
  rpc: Rpc,
  question: AuthorizationQuestion,
  view: View,
): Promise<Reading<AuthorizationFate>> {
  const { finality, deep } = view;
  if (finality === 'safe' || finality === 'finalized') {
    const used = await readUsed(rpc, question, deep.block);
    if (!used.ok) return used;
    if (used.value) return { ok: false, why: 'authorization state: used and unused' };
  }
  const expired = await readExpiry(rpc, question, view);
  return { ok: true, value: expired ?? { kind: 'unused', block: deep.block } };
}

/** The token compares its block's time with validBefore, so unused at a final block past it is unused for ever. */
async function readExpiry(
  rpc: Rpc,
  question: AuthorizationQuestion,
  { finality, head, deep }: View,
): Promise<AuthorizationFate | undefined> {
  const { validBeforeMs } = question;
  if (finality === 'finalized') {
    const over = deep.timeMs !== undefined && deep.timeMs >= validBeforeMs;
    return over ? { kind: 'expired', block: deep.block } : undefined;
  }
  // No block below the newest has a later time.
  if (head.timeMs < validBeforeMs) return undefined;
  const final = await readBlock(rpc, 'finalized');
  if (!final.ok || final.value.timeMs < validBeforeMs) return undefined;
  const used = await readUsed(rpc, question, final.value.block);
  return used.ok && !used.value ? { kind: 'expired', block: final.value.block } : undefined;
}
