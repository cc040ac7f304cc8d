/**
 * A stand-in for a facilitator: it says yes at once, checks no signature and moves no money. It is a load peer, the
 * same for ours and for the official packages, and proves nothing about money. Like a chain it takes each nonce once.
 */
import { isObject } from '../process/read.ts';
import { network } from './goods.ts';

export type StandIn = {
  readonly getSupported: () => Promise<Supported>;
  readonly verify: (payment: unknown) => Promise<Verified>;
  readonly settle: (payment: unknown) => Promise<Settled>;
};

export type Supported = {
  kinds: { x402Version: number; scheme: string; network: typeof network }[];
  extensions: string[];
  signers: Record<string, string[]>;
};
export type Verified = { isValid: boolean; payer: string };
export type Settled = {
  success: boolean;
  payer: string;
  transaction: string;
  network: typeof network;
  errorReason?: string;
};

/** A stand-in with a memory of its own. */
export function createStandIn(): StandIn {
  const spent = new Set<string>();
  return {
    getSupported: async () => ({
      kinds: [{ x402Version: 2, scheme: 'exact', network }],
      extensions: [],
      signers: {},
    }),
    verify: async (payment) => ({ isValid: true, payer: authorizationOf(payment).payer }),
    settle: async (payment) => {
      const { payer, nonce } = authorizationOf(payment);
      if (spent.has(nonce)) {
        const errorReason = 'invalid_exact_evm_nonce_already_used';
        return { success: false, errorReason, payer, transaction: '', network };
      }
      spent.add(nonce);
      const transaction = `0x${spent.size.toString(16).padStart(64, '0')}`;
      return { success: true, payer, transaction, network };
    },
  };
}

/** Payer and nonce of a PaymentPayload; a TypeError where there are none. */
function authorizationOf(payment: unknown): { readonly payer: string; readonly nonce: string } {
  const payload = isObject(payment) ? payment.payload : undefined;
  const authorization = isObject(payload) ? payload.authorization : undefined;
  if (!isObject(authorization)) throw new TypeError('The payment has no authorization.');
  return { payer: String(authorization.from), nonce: String(authorization.nonce) };
}
