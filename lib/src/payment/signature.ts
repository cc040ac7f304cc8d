/**
 * Who signed, judged without a network: from the octets and from our own asset's domain alone (G01, G03, G04).
 * Nothing that the payment says of its domain is used.
 */
import type { Eip712Domain } from '../crypto/eip712.ts';
import { transferDigest } from '../crypto/eip712.ts';
import { publicKeyToAddress, splitSignature } from '../crypto/secp256k1.ts';
import type { Refusal } from '../problem.ts';
import type { Recover } from '../world.ts';
import type { ExactEvmPayment } from './exact.ts';

/**
 * `payer`: signed by the account it takes from. `contract`: only the account's own contract can say. `foreign`: a good
 * signature of somebody else, which a contract at `from` might accept (design 9.16). `nobody`: refused.
 */
export type SignatureVerdict =
  | { readonly by: 'payer' }
  | { readonly by: 'contract' }
  | { readonly by: 'foreign'; readonly signer: string }
  | { readonly by: 'nobody'; readonly refusal: Refusal };

const zeroAddress = `0x${'0'.repeat(40)}`;

const faults = {
  length: 'The signature is not 65 octets long.',
  recovery_value: 'The last octet of the signature is neither 27 nor 28.',
  scalar_range: 'A number in the signature lies outside the curve.',
  high_s: 'The signature has a high s, which tokens refuse.',
} as const;

/** Judges the signature of a payment under the domain of our asset; about 90 us with native secp256k1. */
export function checkSignature(
  payment: ExactEvmPayment,
  domain: Eip712Domain,
  recover: Recover,
): SignatureVerdict {
  if (domain.verifyingContract !== payment.asset || payment.network !== `eip155:${domain.chainId}`) {
    throw new TypeError('A signature is judged under the domain of the asset that is paid.');
  }
  // ecrecover answers zero for nonsense, so a payment from the zero address would be signed by anybody.
  if (payment.payer === zeroAddress) return { by: 'nobody', refusal: { code: 'payer_invalid' } };
  if (payment.signatureKind === 'contract') return { by: 'contract' };
  const parts = splitSignature(payment.signature);
  if (!parts.ok) return invalid(faults[parts.fault]);
  const digest = transferDigest(domain, {
    from: payment.payer,
    to: payment.payTo,
    value: payment.amount,
    validAfter: payment.validAfter,
    validBefore: payment.validBefore,
    nonce: payment.nonce,
  });
  const publicKey = recover({ digest, signature: parts.compact, recovery: parts.recovery });
  if (publicKey === undefined) return invalid('No key fits the signature.');
  const signer = publicKeyToAddress(publicKey);
  return signer === payment.payer ? { by: 'payer' } : { by: 'foreign', signer };
}

function invalid(detail: string): SignatureVerdict {
  return { by: 'nobody', refusal: { code: 'signature_invalid', detail } };
}
