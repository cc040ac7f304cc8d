/**
 * The EIP-712 digests of EIP-3009, written out by hand: the generic encoder costs 150 us a payment, this about
 * 20 us (sdk-notes 4.3). Field order is part of the type hash and must not change.
 */
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { keccak256 } from './keccak.ts';

/** The four members of a token's domain; always from configuration, never from a payment. */
export type Eip712Domain = {
  readonly name: string;
  readonly version: string;
  readonly chainId: bigint;
  /** `0x` and 40 hex digits. */
  readonly verifyingContract: string;
};

/** What the payer of an EIP-3009 transfer signs: addresses and nonce in `0x` hex, times in Unix seconds. */
export type TransferAuthorization = {
  readonly from: string;
  readonly to: string;
  /** Atomic units. */
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** 32 octets. */
  readonly nonce: string;
};

const maxUint256 = (1n << 256n) - 1n;
const transferMembers =
  'address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce';
const domainType = typeHash(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);
const transferType = typeHash(`TransferWithAuthorization(${transferMembers})`);
const receiveType = typeHash(`ReceiveWithAuthorization(${transferMembers})`);
const cancelType = typeHash('CancelAuthorization(address authorizer,bytes32 nonce)');
const prefix: Uint8Array = Uint8Array.of(0x19, 0x01);

/** Separators by domain object; a domain lives as long as its asset and never changes, so nothing goes stale. */
const separators = new WeakMap<Eip712Domain, Uint8Array>();

function typeHash(text: string): Uint8Array {
  return keccak256(utf8ToBytes(text));
}

/** The domain separator, 32 octets; computed once for each domain object. */
export function domainSeparator(domain: Eip712Domain): Uint8Array {
  const known = separators.get(domain);
  if (known !== undefined) return known;
  const separator = keccak256(
    concatBytes(
      domainType,
      typeHash(domain.name),
      typeHash(domain.version),
      uintWord(domain.chainId),
      addressWord(domain.verifyingContract),
    ),
  );
  separators.set(domain, separator);
  return separator;
}

/** The digest that `transferWithAuthorization` recovers from (EIP-3009). */
export function transferDigest(domain: Eip712Domain, authorization: TransferAuthorization): Uint8Array {
  return typedDigest(domain, transferStruct(transferType, authorization));
}

/** The digest that `receiveWithAuthorization` recovers from: only the payee may send it (EIP-3009). */
export function receiveDigest(domain: Eip712Domain, authorization: TransferAuthorization): Uint8Array {
  return typedDigest(domain, transferStruct(receiveType, authorization));
}

/** The digest that `cancelAuthorization` recovers from (EIP-3009). */
export function cancelDigest(
  domain: Eip712Domain,
  canceled: { readonly authorizer: string; readonly nonce: string },
): Uint8Array {
  return typedDigest(
    domain,
    concatBytes(cancelType, addressWord(canceled.authorizer), bytes32Word(canceled.nonce)),
  );
}

function transferStruct(type: Uint8Array, authorization: TransferAuthorization): Uint8Array {
  return concatBytes(
    type,
    addressWord(authorization.from),
    addressWord(authorization.to),
    uintWord(authorization.value),
    uintWord(authorization.validAfter),
    uintWord(authorization.validBefore),
    bytes32Word(authorization.nonce),
  );
}

function typedDigest(domain: Eip712Domain, struct: Uint8Array): Uint8Array {
  return keccak256(concatBytes(prefix, domainSeparator(domain), keccak256(struct)));
}

function uintWord(value: bigint): Uint8Array {
  if (value < 0n || value > maxUint256) throw new RangeError('A uint256 lies between 0 and 2^256 - 1.');
  return hexToBytes(value.toString(16).padStart(64, '0'));
}

function addressWord(address: string): Uint8Array {
  if (address.length !== 42) throw new TypeError('An address has 0x and 40 hex digits.');
  return hexToBytes(address.slice(2).padStart(64, '0'));
}

function bytes32Word(text: string): Uint8Array {
  if (text.length !== 66) throw new TypeError('A bytes32 has 0x and 64 hex digits.');
  return hexToBytes(text.slice(2));
}
