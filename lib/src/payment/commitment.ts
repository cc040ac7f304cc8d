/**
 * evm-request-commitment (formats 10.1): the request is bound into the authorization's nonce, so that the signature
 * itself says what it buys. The 402 declares it, the client adds a salt, the server recomputes the nonce from the
 * request that it is about to execute.
 */
import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';
import { decodeHex, encodeHex } from '../wire/hex.ts';
import { isJsonObject } from '../wire/json.ts';
import type { Json, JsonObject, PaymentPayload, PaymentRequired } from '../wire/v2.ts';
import type { World } from '../world.ts';
import { type SignOptions, signExactEvm } from './client.ts';
import { commitmentDomain, committedNonce, requestDigest, saltLength } from './request.ts';

/** The extension's key in a 402 and in a payment. */
export const commitmentExtension = 'evm-request-commitment';
const profile = 'http:1';

/** What the 402 says of the commitment that it wants or takes. */
export type CommitmentDeclaration = {
  /** True where a payment without it is refused. */
  readonly required: boolean;
  /** From {@link checkBoundHeaders}. */
  readonly boundHeaders: readonly string[];
  /** 32 octets; lets a buyer see before it signs that both ends mean the same request. */
  readonly requestDigest?: Uint8Array;
};

/** The value of `extensions["evm-request-commitment"]` in a 402. */
export function declareCommitment(declaration: CommitmentDeclaration): JsonObject {
  const { required, boundHeaders, requestDigest: digest } = declaration;
  return {
    info: {
      required,
      profile,
      bindingParams: { headers: boundHeaders },
      ...(digest === undefined ? {} : { requestDigest: plainHex(digest) }),
    },
  };
}

/** What a payment says of its commitment; without a salt it says nothing, since stock clients echo what they read. */
export type CommitmentClaim =
  | { readonly kind: 'none' }
  | { readonly kind: 'salted'; readonly salt: Uint8Array; readonly requestDigest?: Uint8Array };

/** Reads the extension of a payment; what stands there and is no salt or no digest is refused as malformed. */
export function readCommitment(extensions: JsonObject | undefined): Outcome<CommitmentClaim> {
  const extension = member(extensions, commitmentExtension);
  if (extension === undefined) return succeed({ kind: 'none' });
  const info = member(extension, 'info');
  if (!isJsonObject(info)) return malformed('info');
  const salt = member(info, 'salt');
  if (salt === undefined) return succeed({ kind: 'none' });
  const octets = plainOctets(salt);
  if (octets === undefined) return malformed('salt');
  const named = member(info, 'profile');
  if (named !== undefined && named !== profile) return malformed('profile');
  const digest = member(info, 'requestDigest');
  if (digest === undefined) return succeed({ kind: 'salted', salt: octets });
  const echoed = plainOctets(digest);
  if (echoed === undefined) return malformed('requestDigest');
  return succeed({ kind: 'salted', salt: octets, requestDigest: echoed });
}

/** True when the nonce (`0x` and 64 hex digits) commits to the request of this digest under this salt. */
export function commitsTo(
  nonce: string,
  committed: { readonly requestDigest: Uint8Array; readonly salt: Uint8Array },
  sha256: World['sha256'],
): boolean {
  return encodeHex(committedNonce(committed, sha256)) === nonce;
}

/** The request as the client is about to send it. */
export type CommittedRequest = {
  readonly method: string;
  /** Absolute, as it will be asked for. */
  readonly url: string;
  readonly headers: Iterable<readonly [string, string]>;
  readonly body: Uint8Array;
};

/**
 * Signs a payment whose nonce commits to a request, under a fresh salt that travels with it. Refused with
 * `request_commitment_missing` where the 402 does not declare the extension, `request_commitment_malformed` where the
 * declaration cannot be followed, and `request_commitment_mismatch` where the 402 advertises the digest of another
 * request than ours: then nothing is signed.
 */
export async function signCommitted(
  options: Omit<SignOptions, 'nonce' | 'resource' | 'extensions'> & {
    readonly required: PaymentRequired;
    readonly request: CommittedRequest;
    readonly sha256: World['sha256'];
  },
): Promise<Outcome<PaymentPayload>> {
  const { required, request, sha256, ...signing } = options;
  const declared = readDeclaration(required.extensions);
  if (!declared.ok) return declared;
  const { boundHeaders, extension, info } = declared.value;
  const { method, url, headers, body } = request;
  const digest = requestDigest(
    { method, url, body, headerLines: headers, boundHeaders },
    commitmentDomain,
    sha256,
  );
  if (!digest.ok) return digest;
  const advertised = member(info, 'requestDigest');
  if (advertised !== undefined && advertised !== plainHex(digest.value)) {
    return refuse('request_commitment_mismatch', {
      detail: 'The seller means another request than this one.',
    });
  }
  const salt = options.random(saltLength);
  const payment = await signExactEvm({
    ...signing,
    resource: required.resource,
    nonce: committedNonce({ requestDigest: digest.value, salt }, sha256),
    extensions: {
      ...required.extensions,
      [commitmentExtension]: { ...extension, info: { ...info, salt: plainHex(salt) } },
    },
  });
  return succeed(payment);
}

type Declared = {
  readonly boundHeaders: readonly string[];
  readonly extension: JsonObject;
  readonly info: JsonObject;
};

function readDeclaration(extensions: JsonObject | undefined): Outcome<Declared> {
  const extension = member(extensions, commitmentExtension);
  if (!isJsonObject(extension)) return refuse('request_commitment_missing');
  const info = member(extension, 'info');
  const boundHeaders = member(member(info, 'bindingParams'), 'headers');
  if (!isJsonObject(info) || member(info, 'profile') !== profile || !isTextList(boundHeaders)) {
    return malformed('info');
  }
  return succeed({ boundHeaders, extension, info });
}

function malformed(field: string): ReturnType<typeof refuse> {
  return refuse('request_commitment_malformed', { fields: [`extensions.${commitmentExtension}.${field}`] });
}

function plainHex(octets: Uint8Array): string {
  return encodeHex(octets).slice(2);
}

/** 64 lower-case hex digits without a prefix, as the extension writes salt and digest. */
function plainOctets(value: Json): Uint8Array | undefined {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? decodeHex(`0x${value}`) : undefined;
}

function member(object: Json | undefined, name: string): Json | undefined {
  return isJsonObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}

function isTextList(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
