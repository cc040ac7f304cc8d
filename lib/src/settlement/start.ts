/**
 * The block from which on a use of an authorization is ours (attack S06: whoever spends it after we noted the block
 * spends it for us; what was spent before it came here buys nothing).
 */
import type { AuthorizationQuestion, ChainReader } from './chain.ts';

/**
 * How far below the newest block the start is set once the authorization is known to be unused there.
 *
 * A bare height errs both ways: after a reorganization, or where another endpoint is a block ahead, our own landing may
 * stand at or below the height that was noted, and would be taken for somebody else's; and a tolerance that is simply
 * subtracted would let a payment that was spent a moment ago, at another shop of the same payee, buy here as well. So
 * the state decides and not the height: unused at the newest block, whatever uses it later is later, wherever it lands,
 * and the tolerance costs nothing; used already, none is given. 64 blocks are two epochs of Ethereum, which a
 * reorganization does not reach while the chain becomes final, and more than other chains have seen since 2024.
 */
export const startSlack = 64;

/**
 * The start block to note before the first send of this authorization, or undefined where the chain is not read. Two
 * questions in the usual case.
 */
export async function startBlockOf(
  chain: Pick<ChainReader, 'fate' | 'blockNumber'>,
  question: Omit<AuthorizationQuestion, 'startBlock'>,
): Promise<number | undefined> {
  const fate = await chain.fate({ ...question, startBlock: undefined });
  if (fate.kind === 'unused') return Math.max(0, fate.block - startSlack);
  const newest = await chain.blockNumber();
  return newest ?? ('transaction' in fate ? fate.block : undefined);
}
