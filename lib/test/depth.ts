/**
 * A chain over the rig's ledger on which depth matters: a transfer has so many confirmations as the test says, may be
 * taken away by a reorganisation, and an authorization ends when the test says that its end is final.
 */
import type { AuthorizationFate, ChainReader, Finality } from '../src/settlement/index.ts';
import { type Rig, transactionOf } from './rig.ts';

export type DepthChain = ChainReader & {
  readonly now: {
    /** Of every transfer, 1 in the newest block. */
    confirmations: number;
    finalized: boolean;
    /** The newest block; transfers stand in block 101. */
    newest: number;
    /** Every authorization that is unused has ended at a final block. */
    over: boolean;
    /** A node that has not heard of anything since block 100, or none at all. */
    stale: boolean;
    unread: boolean;
  };
  readonly asked: (Finality | undefined)[];
};

/** Reads the rig's ledger at the depth that the test gives it. */
export function createDepthChain({ ledger }: Pick<Rig, 'ledger'>): DepthChain {
  const now = { confirmations: 1, finalized: false, newest: 101, over: false, stale: false, unread: false };
  const asked: (Finality | undefined)[] = [];
  const deep = (finality: Finality): boolean => {
    if (finality === 'latest') return true;
    return typeof finality === 'number' ? now.confirmations >= finality : now.finalized;
  };
  return {
    now,
    asked,
    blockNumber: async () => (now.stale ? 100 : now.newest),
    head: async () => undefined,
    hasCode: async () => false,
    fate: async (question, finality = 'latest'): Promise<AuthorizationFate> => {
      asked.push(finality);
      if (now.unread) return { kind: 'unread', why: 'down' };
      const id = `${question.payer}/${question.nonce}`;
      const landed = now.stale ? undefined : ledger.landed.get(id);
      const canceled = !now.stale && ledger.canceled.has(id);
      if (landed === undefined && !canceled) {
        return now.over && !now.stale ? { kind: 'expired', block: 140 } : { kind: 'unused', block: 100 };
      }
      const as = canceled ? 'canceled' : 'settled';
      const transaction = landed?.transaction ?? transactionOf(999);
      const at = { transaction, block: 101 };
      if (!deep(finality)) return { kind: 'shallow', as, ...at, confirmations: now.confirmations };
      return as === 'settled' ? { kind: as, ...at, finality } : { kind: as, ...at };
    },
  };
}
