/**
 * The accounts of the local chain: the well-known development mnemonic, one role for each account.
 * Everybody on earth knows these keys. They are worth something only on a chain that stops with this program.
 */
import { pbkdf2Sync } from 'node:crypto';
import { type Address, bytesToHex, type Hex } from 'viem';
import { HDKey, privateKeyToAddress } from 'viem/accounts';

/** The development mnemonic that anvil, hardhat and others share; public, never for real money. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

/** How many accounts have a fixed role before the buyers begin. */
export const ROLE_COUNT = 4;

/** Buyers when nobody asks for another number: ten accounts in all, as anvil users expect. */
export const DEFAULT_BUYERS = 6;

/** Each buyer costs a key derivation and a mint at boot; a hundred still boots in about a second. */
export const MAX_BUYERS = 100;

/** One funded account: `address` and `privateKey` are 0x hex, `index` is its place in the mnemonic. */
export type Account = {
  readonly role: 'deployer' | 'relayer' | 'operator' | 'seller' | 'buyer';
  readonly index: number;
  readonly address: Address;
  readonly privateKey: Hex;
};

/**
 * All accounts by role: `deployer` owns and mints the dollar, `relayer` pays the facilitator's gas and
 * belongs to it alone, `operator` sends what is neither (cancellations), `seller` is the payTo.
 */
export type Accounts = {
  readonly deployer: Account;
  readonly relayer: Account;
  readonly operator: Account;
  readonly seller: Account;
  readonly buyers: readonly Account[];
};

/** The accounts of a devnet with this many buyers (1 to {@link MAX_BUYERS}); the same every time. */
export function deriveAccounts(buyers: number = DEFAULT_BUYERS): Accounts {
  if (!isBuyerCount(buyers)) {
    throw new TypeError(`accounts must be a whole number of buyers from 1 to ${MAX_BUYERS}, got ${buyers}`);
  }
  // BIP-39: the seed is PBKDF2 over the sentence with the salt "mnemonic" and 2048 rounds.
  const seed = pbkdf2Sync(MNEMONIC, 'mnemonic', 2048, 64, 'sha512');
  const parent = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'/0");
  const at = (role: Account['role'], index: number): Account => accountAt(parent, role, index);
  return {
    deployer: at('deployer', 0),
    relayer: at('relayer', 1),
    operator: at('operator', 2),
    seller: at('seller', 3),
    buyers: Array.from({ length: buyers }, (_, i) => at('buyer', ROLE_COUNT + i)),
  };
}

/** Whether a chain can have this many buyers. */
export function isBuyerCount(buyers: number): boolean {
  return Number.isInteger(buyers) && buyers >= 1 && buyers <= MAX_BUYERS;
}

/** Every account in the order of the mnemonic. */
export function listAccounts(accounts: Accounts): readonly Account[] {
  return [accounts.deployer, accounts.relayer, accounts.operator, accounts.seller, ...accounts.buyers];
}

function accountAt(parent: HDKey, role: Account['role'], index: number): Account {
  const key = parent.deriveChild(index).privateKey;
  if (key === null) throw new Error('a derived account has no private key');
  const privateKey = bytesToHex(key);
  return { role, index, address: privateKeyToAddress(privateKey), privateKey };
}
