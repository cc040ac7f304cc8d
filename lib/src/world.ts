/**
 * What the core may ask of the world: clock, random, hash, cipher, network. Everything that decides about
 * money receives these as an argument, so that tests and the simulator can stand in; `system.ts` alone names
 * the real ones (style 12).
 */

/** Recovers the 64-byte public key (x || y) that made a low-s signature over a 32-byte digest, or undefined. */
export type Recover = (input: {
  readonly digest: Uint8Array;
  /** r || s, 64 bytes. */
  readonly signature: Uint8Array;
  /** 0 or 1. */
  readonly recovery: number;
}) => Uint8Array | undefined;

/** Authenticated encryption (AES-256-GCM); `open` gives undefined when the text was altered or the key is wrong. */
export type Cipher = {
  readonly seal: (input: {
    key: Uint8Array;
    nonce: Uint8Array;
    plain: Uint8Array;
    bound: Uint8Array;
  }) => Uint8Array;
  readonly open: (input: {
    key: Uint8Array;
    nonce: Uint8Array;
    sealed: Uint8Array;
    bound: Uint8Array;
  }) => Uint8Array | undefined;
};

export type HttpRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** From the first byte to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Decoded octets; a longer answer is a failure. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
};

/**
 * `sent: false` is said only where no byte of the request can have reached the other side (refused connection,
 * unknown host); everything else that fails is `sent: true`, because silence proves nothing.
 */
export type HttpResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: ReadonlyMap<string, string>;
      readonly body: Uint8Array;
    }
  | {
      readonly ok: false;
      readonly sent: boolean;
      readonly why: 'connect' | 'timeout' | 'too_large' | 'reset' | 'aborted';
    };

/** Never follows a redirect; a 3xx is returned as it came. */
export type Http = (request: HttpRequest) => Promise<HttpResult>;

/** A running timer that can be called off. */
export type Timer = { readonly cancel: () => void };

export type World = {
  /** Unix milliseconds by the wall clock. */
  readonly nowMs: () => number;
  /** Milliseconds that only grow; for durations. */
  readonly monotonicMs: () => number;
  readonly random: (length: number) => Uint8Array;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  readonly recover: Recover;
  readonly cipher: Cipher;
  readonly http: Http;
  /** Runs `work` once after `delayMs`; a waiting timer never keeps a process alive. */
  readonly after: (delayMs: number, work: () => void) => Timer;
};
