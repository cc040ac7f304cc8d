/**
 * A payment as the stock client makes it: requirements in the local dollar, signed by the official exact scheme.
 * For tests and demonstrations that need the payload itself and not a whole HTTP exchange.
 */
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import type { LocalAccount } from 'viem';
import type { Devnet } from './devnet.ts';
import type { PaymentRequest } from './request.ts';

/** Long enough for any handler of a test, short enough to be refused when it is forgotten. */
const MAX_TIMEOUT_SECONDS = 300;

/** What a seller asks: `amount` in atomic units of the dollar, to the devnet's seller unless said otherwise. */
export function requirementsFor(
  devnet: Pick<Devnet, 'network' | 'dollar' | 'accounts'>,
  amount: bigint,
  payTo: string = devnet.accounts.seller.address,
): PaymentRequirements {
  const { network, dollar } = devnet;
  return {
    scheme: 'exact',
    network,
    asset: dollar.address,
    amount: String(amount),
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { name: dollar.name, version: dollar.version },
  };
}

/** Signs these requirements with a fresh nonce, and gives back what is posted to a facilitator. */
export async function signPayment(
  signer: LocalAccount,
  paymentRequirements: PaymentRequirements,
): Promise<PaymentRequest> {
  const signed = await new ExactEvmScheme(signer).createPaymentPayload(2, paymentRequirements);
  const paymentPayload: PaymentPayload = {
    x402Version: 2,
    accepted: paymentRequirements,
    payload: signed.payload,
  };
  return { paymentPayload, paymentRequirements };
}
