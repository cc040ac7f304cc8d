/**
 * The real world for Node: clock, random, hash, cipher, network and the fastest secp256k1 that loads. No other file
 * of the core names any of them. undici, secp256k1 and tiny-secp256k1 are optional peers: without the first there is
 * no seller, without the other two signatures are checked in JavaScript, about twenty times slower.
 */
import { createCipheriv, createDecipheriv, hash, randomFillSync } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { recoverNoble } from './crypto/secp256k1.ts';
import type { Cipher, Http, HttpRequest, HttpResult, Recover, World } from './world.ts';

/** Where recovery runs: native code, WebAssembly, or plain JavaScript. */
export type Secp256k1Kind = 'native' | 'wasm' | 'noble';

export type SystemOptions = {
  /** Takes this one or throws; default: the first of native, wasm, noble that loads and passes its self-test. */
  readonly secp256k1?: Secp256k1Kind;
  /** Until a TCP and TLS connection stands; default 5 s, so that a dead facilitator is noticed within a settle budget. */
  readonly connectTimeoutMs?: number;
  /** Open connections to one origin; default 64, above which requests wait for one. */
  readonly connections?: number;
  /** For how long an idle connection is kept; default 4 s, below the 5 s after which common servers close theirs. */
  readonly keepAliveMs?: number;
};

export type System = World & {
  readonly secp256k1InUse: Secp256k1Kind;
  /** Closes idle connections and waits for requests in flight; the system sends nothing afterwards. */
  readonly close: () => Promise<void>;
};

const optionKeys = new Set(['secp256k1', 'connectTimeoutMs', 'connections', 'keepAliveMs']);
/** setTimeout fires at once when it is asked for more. */
const maxDelayMs = 2 ** 31 - 1;
/** Idle connections that a request may find dropped; a server that resets every connection is not tried for long. */
const mostRenewals = 3;
const cipherName = 'aes-256-gcm';
const tagLength = 16;

/**
 * Builds the real world; rejects with the line to install when undici is missing.
 * @example
 * const world = await createSystem();
 * console.log(`secp256k1: ${world.secp256k1InUse}`);
 */
export async function createSystem(options: SystemOptions = {}): Promise<System> {
  for (const key of Object.keys(options)) {
    if (!optionKeys.has(key)) throw new TypeError(`The system has no option "${key}".`);
  }
  const recovery = await loadRecover(options.secp256k1);
  const agent = await createAgent(options);
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    random: createRandom(),
    sha256: (bytes) => new Uint8Array(hash('sha256', bytes, 'buffer')),
    recover: recovery.recover,
    cipher,
    http: createHttp(agent),
    after,
    secp256k1InUse: recovery.kind,
    close: () => agent.close(),
  };
}

/** Octets that are asked of the platform at once: a question costs as much as four thousand octets. */
const randomPool = 4096;

/** The platform's random octets, drawn in bulk; each is given out once and not kept. */
function createRandom(): World['random'] {
  const pool = new Uint8Array(randomPool);
  let used = pool.length;
  return (length) => {
    if (length > pool.length) return randomFillSync(new Uint8Array(length));
    if (used + length > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const drawn = pool.slice(used, used + length);
    pool.fill(0, used, used + length);
    used += length;
    return drawn;
  };
}

const after: World['after'] = (delayMs, work) => {
  if (!(delayMs >= 0 && delayMs <= maxDelayMs)) {
    throw new RangeError(`A timer waits between 0 and ${maxDelayMs} milliseconds.`);
  }
  const timer = setTimeout(work, delayMs);
  timer.unref();
  return { cancel: () => clearTimeout(timer) };
};

/** The sealed text is the cipher text followed by its 16-octet tag. */
const cipher: Cipher = {
  seal({ key, nonce, plain, bound }) {
    const machine = createCipheriv(cipherName, key, nonce, { authTagLength: tagLength });
    machine.setAAD(bound);
    return joined([machine.update(plain), machine.final(), machine.getAuthTag()]);
  },
  open({ key, nonce, sealed, bound }) {
    if (sealed.length < tagLength) return undefined;
    const machine = createDecipheriv(cipherName, key, nonce, { authTagLength: tagLength });
    machine.setAAD(bound);
    machine.setAuthTag(sealed.subarray(sealed.length - tagLength));
    const first = machine.update(sealed.subarray(0, sealed.length - tagLength));
    try {
      return joined([first, machine.final()]);
    } catch {
      // The tag does not fit: altered, bound to something else, or another key.
      return undefined;
    }
  },
};

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

type Recovery = { readonly kind: Secp256k1Kind; readonly recover: Recover };

async function loadRecover(wanted: Secp256k1Kind | undefined): Promise<Recovery> {
  for (const kind of wanted === undefined ? (['native', 'wasm', 'noble'] as const) : [wanted]) {
    const recover = await tryRecover(kind);
    if (recover !== undefined && passesSelfTest(recover)) return { kind, recover };
  }
  throw new TypeError(`The ${wanted} secp256k1 does not load here.`);
}

async function tryRecover(kind: Secp256k1Kind): Promise<Recover | undefined> {
  try {
    switch (kind) {
      case 'native':
        return await loadNative();
      case 'wasm':
        return await loadWasm();
      case 'noble':
        return recoverNoble;
      default:
        return kind satisfies never;
    }
  } catch {
    // Not installed, or no binary for this machine: the next one is asked.
    return undefined;
  }
}

async function loadNative(): Promise<Recover | undefined> {
  // Never the package's index: where the binary is missing that falls back to `elliptic`, silently.
  const bindings = 'secp256k1/bindings.js';
  const library = memberOf(await import(bindings), 'default');
  const run = memberOf(library, 'ecdsaRecover');
  if (typeof run !== 'function') return undefined;
  return ({ digest, signature, recovery }) => unlessThrown(() => run(signature, recovery, digest, false));
}

async function loadWasm(): Promise<Recover | undefined> {
  const name = 'tiny-secp256k1';
  const run = memberOf(await import(name), 'recover');
  if (typeof run !== 'function') return undefined;
  return ({ digest, signature, recovery }) => unlessThrown(() => run(digest, signature, recovery, false));
}

function memberOf(holder: unknown, name: string): unknown {
  return typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined;
}

/** Both libraries throw where no key fits, and give 65 octets of which the first is a constant. */
function unlessThrown(run: () => unknown): Uint8Array | undefined {
  try {
    const key = run();
    return key instanceof Uint8Array && key.length === 65 ? key.slice(1) : undefined;
  } catch {
    return undefined;
  }
}

/** A signature by the secret key 1 over 32 octets of 0x01, whose public key is the curve's generator. */
const selfTest = {
  digest: '01'.repeat(32),
  signature:
    '747a6c6bd9a8ff0b77a99b8f274f5df5198b5dddc33edd4bc89e459d13dfa6177431bfa016325b8f27491781d1c462999f1dde760560373a517d29161c2df139',
  recovery: 1,
  publicKey:
    '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798' +
    '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8',
} as const;

function passesSelfTest(recover: Recover): boolean {
  const key = recover({
    digest: Uint8Array.from(Buffer.from(selfTest.digest, 'hex')),
    signature: Uint8Array.from(Buffer.from(selfTest.signature, 'hex')),
    recovery: selfTest.recovery,
  });
  return key !== undefined && Buffer.from(key).toString('hex') === selfTest.publicKey;
}

async function createAgent(options: SystemOptions): Promise<Agent> {
  const undici = await import('undici').catch((cause: unknown) => {
    throw new Error('The network needs undici, an optional peer of counterfoil: npm install undici@8', {
      cause,
    });
  });
  return new undici.Agent({
    connections: options.connections ?? 64,
    connect: { timeout: options.connectTimeoutMs ?? 5_000 },
    keepAliveTimeout: options.keepAliveMs ?? 4_000,
    // One request at a time on a connection, and no HTTP/2: a failure then concerns one request, and none is sent
    // again behind our back. The total time-out is ours.
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function createHttp(agent: Agent): Http {
  return (request) =>
    new Promise((resolve) => {
      const url = new URL(request.url);
      if (url.protocol !== 'https:' && url.protocol !== 'http:') {
        throw new TypeError('Only http and https are spoken.');
      }
      const exchange = new Exchange(request, {
        resolve,
        dispatch: () =>
          agent.dispatch(
            {
              origin: url.origin,
              path: url.pathname + url.search,
              method: request.method,
              headers: request.headers,
              body: request.body ?? null,
            },
            exchange,
          ),
      });
      exchange.begin();
    });
}

type Failure = Extract<HttpResult, { ok: false }>['why'];

/**
 * One request and its answer. undici calls `onRequestStart` immediately before the first octet is written, and
 * aborting there writes none: so `#started` is exactly "something may have been sent".
 */
class Exchange implements Dispatcher.DispatchHandler {
  #over = false;
  #started = false;
  #renewals = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: ReadonlyMap<string, string> = new Map();
  #chunks: Uint8Array[] = [];
  #length = 0;
  readonly #maxBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (result: HttpResult) => void;
  readonly #dispatch: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = (): void => this.#fail('aborted');

  constructor(request: HttpRequest, parts: { resolve: (result: HttpResult) => void; dispatch: () => void }) {
    this.#maxBytes = request.maxBytes;
    this.#signal = request.signal;
    this.#resolve = parts.resolve;
    this.#dispatch = parts.dispatch;
    this.#timer = setTimeout(() => this.#fail('timeout'), request.timeoutMs);
    if (this.#signal?.aborted === true) this.#fail('aborted');
    else this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  begin(): void {
    if (!this.#over) this.#dispatch();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection, or about to be written a second time: neither may happen.
    if (this.#over || this.#started) {
      controller.abort(new Error('not sent'));
      return;
    }
    this.#started = true;
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHeaders,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = new Map(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value ?? ''].flat().join(', ')]),
    );
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#over) return;
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) this.#fail('too_large');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#over) return;
    const body = decodeContent(joined(this.#chunks), this.#headers.get('content-encoding'), this.#maxBytes);
    if (typeof body === 'string') this.#fail(body);
    else this.#end({ ok: true, status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, fault: Error): void {
    if (this.#renew(fault)) queueMicrotask(() => this.begin());
    else this.#fail(this.#started ? 'reset' : 'connect');
  }

  /** The other side had dropped the idle connection that was to carry the request: another one takes its place. */
  #renew(fault: Error): boolean {
    if (this.#started || this.#renewals === mostRenewals) return false;
    if (memberOf(fault, 'code') !== 'ECONNRESET') return false;
    this.#renewals += 1;
    return true;
  }

  #fail(why: Failure): void {
    if (this.#over) return;
    this.#end({ ok: false, sent: this.#started, why });
    this.#controller?.abort(new Error(why));
  }

  #end(result: HttpResult): void {
    this.#over = true;
    this.#chunks = [];
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#resolve(result);
  }
}

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** We ask for no encoding; an answer that is encoded all the same is read, within the limit for decoded octets. */
function decodeContent(
  body: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Uint8Array | 'too_large' | 'reset' {
  const decode = decoders.get(encoding?.trim().toLowerCase() ?? 'identity');
  if (decode === undefined) return 'reset';
  try {
    return new Uint8Array(decode(body, { maxOutputLength: maxBytes }));
  } catch (fault) {
    return memberOf(fault, 'code') === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'reset';
  }
}

type Decode = (body: Uint8Array, limits: { readonly maxOutputLength: number }) => Uint8Array;
const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['', (body) => body],
  ['identity', (body) => body],
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);
