/** Keccak, ECDSA recovery, the digests of EIP-3009, canonical JSON and sealed answers. */
export type { Eip712Domain, TransferAuthorization } from './eip712.ts';
export { cancelDigest, domainSeparator, receiveDigest, transferDigest } from './eip712.ts';
export { canonicalJson } from './jcs.ts';
export { checksumAddress, keccak256, plausibleAddress } from './keccak.ts';
export {
  openRecord,
  openWithSignature,
  openWithStoreKey,
  sealAnswer,
  sealRecord,
  storeKeyLength,
} from './seal.ts';
export type { DigestSigner, EcdsaParts } from './secp256k1.ts';
export {
  createDigestSigner,
  ecdsaSignatureLength,
  publicKeyToAddress,
  recoverNoble,
  splitSignature,
} from './secp256k1.ts';
