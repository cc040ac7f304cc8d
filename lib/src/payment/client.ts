/**
 * Makes an EIP-3009 payment as the stock client makes it: valid at once, for as long as the seller asks, under a
 * random nonce. It decides nothing; budgets, intents and refusals to sign are the buyer's (buyer/).
 */
import type { Eip712Domain } from '../crypto/eip712.ts';
import { transferDigest } from '../crypto/eip712.ts';
import type { DigestSigner } from '../crypto/secp256k1.ts';
import { eip155ChainId } from '../wire/caip.ts';
import { encodeHex, parseAddress } from '../wire/hex.ts';
import type { JsonObject, PaymentPayload, PaymentRequirements, ResourceInfo } from '../wire/v2.ts';
import type { World } from '../world.ts';
import { encodePayload } from './exact.ts';

export type SignOptions = {
  /** The entry of `accepts` that is paid. */
  readonly requirement: PaymentRequirements;
  readonly signer: DigestSigner;
  readonly nowMs: number;
  readonly random: World['random'];
  /** Echoed, so that a seller can compare it with its own URL. */
  readonly resource?: ResourceInfo;
  readonly extensions?: JsonObject;
  /** 32 octets in place of random ones, as for a committed nonce. */
  readonly nonce?: Uint8Array;
};

/** Signs one authorization for a requirement of the exact scheme; a requirement that cannot be signed is a TypeError. */
export async function signExactEvm(options: SignOptions): Promise<PaymentPayload> {
  const { requirement, signer, resource, extensions } = options;
  const domain = requirementDomain(requirement);
  const payer = parseAddress(signer.address);
  const payTo = parseAddress(requirement.payTo);
  if (payer === undefined || payTo === undefined)
    throw new TypeError('Payer and payTo must be EVM addresses.');
  const nonce = options.nonce ?? options.random(32);
  if (nonce.length !== 32) throw new TypeError('A nonce has 32 octets.');
  const validBefore = BigInt(Math.floor(options.nowMs / 1000) + requirement.maxTimeoutSeconds);
  const authorization = {
    payer,
    payTo,
    amount: requirement.amount,
    // Zero spares honest buyers whose clock is ahead of the chain's a refusal.
    validAfter: 0n,
    validBefore,
    nonce: encodeHex(nonce),
  };
  const { amount: value, ...times } = authorization;
  const digest = transferDigest(domain, { ...times, from: payer, to: payTo, value });
  const signature = await signer.signDigest(digest);
  return {
    x402Version: 2,
    ...(resource === undefined ? {} : { resource }),
    accepted: requirement,
    payload: encodePayload(authorization, signature),
    ...(extensions === undefined ? {} : { extensions }),
  };
}

function requirementDomain(requirement: PaymentRequirements): Eip712Domain {
  const chainId = eip155ChainId(requirement.network);
  const verifyingContract = parseAddress(requirement.asset);
  const { name, version } = requirement.extra;
  if (requirement.scheme !== 'exact' || chainId === undefined || verifyingContract === undefined) {
    throw new TypeError('Only the exact scheme on EVM networks is signed here.');
  }
  if (typeof name !== 'string' || typeof version !== 'string') {
    throw new TypeError('The requirement lacks the name or version of its EIP-712 domain.');
  }
  return { name, version, chainId: BigInt(chainId), verifyingContract };
}
