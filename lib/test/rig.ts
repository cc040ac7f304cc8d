/**
 * The rig for tests of money: a world whose clock and timers only the test moves, a scripted facilitator and chain
 * that share one ledger, real signatures, and a seller over any store. Nothing here sleeps.
 */
import { createDigestSigner, type DigestSigner } from '../src/crypto/index.ts';
import { signExactEvm } from '../src/payment/index.ts';
import { createSeller, type Seller, type SellerEvent, type SellerOptions } from '../src/seller/index.ts';
import type { Answer, BodyResult, Delivery, HeaderList, SellerRequest } from '../src/seller/message.ts';
import {
  type AuthorizationFate,
  type ChainReader,
  createFacilitator,
  type FacilitatorCall,
  type FacilitatorTransport,
  type TransportResult,
} from '../src/settlement/index.ts';
import { createMemoryStore } from '../src/stores/memory.ts';
import { createSystem } from '../src/system.ts';
import { type Asset, defineAsset } from '../src/terms/index.ts';
import { decodePaymentRequired, decodePaymentResponse, encodePaymentSignature } from '../src/wire/index.ts';
import type { JsonObject, PaymentPayload, PaymentRequired, SettlementResponse } from '../src/wire/v2.ts';
import type { Timer, World } from '../src/world.ts';

export const network = 'eip155:31337';
const origin = 'https://api.example.com';
export const payTo = '0x00000000000000000000000000000000000beef1';
export const dollar: Asset = defineAsset({
  network,
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'LUSD',
  decimals: 6,
  name: 'Local USD',
  version: '2',
  dollar: true,
});

/** A clock that only the test moves; timers run when their time comes, in order. */
export type Clock = {
  readonly nowMs: () => number;
  /** Moves time and lets every timer on the way run to rest. */
  readonly advance: (ms: number) => Promise<void>;
  readonly after: World['after'];
};

type Waiting = { atMs: number; readonly work: () => void; canceled: boolean };

export function createClock(startMs: number = 1_790_000_000_000): Clock {
  let now = startMs;
  const waiting: Waiting[] = [];
  return {
    nowMs: () => now,
    after: (delayMs, work): Timer => {
      const timer: Waiting = { atMs: now + delayMs, work, canceled: false };
      waiting.push(timer);
      return {
        cancel: () => {
          timer.canceled = true;
        },
      };
    },
    advance: async (ms) => {
      const until = now + ms;
      for (;;) {
        await rest();
        const next = waiting
          .filter((timer) => !timer.canceled && timer.atMs <= until)
          .sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        now = Math.max(now, next.atMs);
        next.canceled = true;
        next.work();
      }
      now = until;
      await rest();
    },
  };
}

/** Lets everything that can run without time or network run. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** What a scripted settle does: whether the money moves, and what is said of it. */
export type SettleScript = {
  readonly lands?: boolean;
  readonly says: 'success' | 'lost' | 'unsent' | TransportResult;
  /** Waits for this before anything happens. */
  readonly before?: Promise<unknown>;
  /** Waits for this after landing, before it answers. */
  readonly hold?: Promise<unknown>;
};

export type Ledger = {
  /** Landed transfers by `<payer>/<nonce>`. */
  readonly landed: Map<
    string,
    { readonly transaction: string; readonly amount: string; readonly payTo: string }
  >;
  readonly canceled: Set<string>;
};

export type Rig = {
  readonly world: World;
  readonly clock: Clock;
  readonly seller: Seller;
  readonly options: SellerOptions;
  readonly events: SellerEvent[];
  readonly ledger: Ledger;
  readonly calls: { supported: number; verify: number; settle: number; fate: number };
  /** Scripts for the next settles, first in, first out; then success. */
  readonly settles: SettleScript[];
  /** Scripts for the next verifies; then valid. */
  readonly verifies: TransportResult[];
  readonly buyer: DigestSigner;
  /** Makes another seller over the same store, ledger and clock: a second process. */
  readonly another: (more?: Partial<SellerOptions>) => Seller;
  readonly pay: (required: PaymentRequired, more?: PayOptions) => Promise<PaymentPayload>;
};

export type PayOptions = {
  readonly buyer?: DigestSigner;
  readonly nowMs?: number;
  readonly nonce?: Uint8Array;
};

const system = await createSystem();
const secret = new Uint8Array(32).fill(7);

/** A signer with a key of one repeated octet. */
export function buyerOf(octet: number): DigestSigner {
  return createDigestSigner(new Uint8Array(32).fill(octet));
}

/** Puts a rig together; anything of the seller's options can be replaced. */
export function createRig(more: Partial<SellerOptions> & { readonly chain?: 'read' | 'none' } = {}): Rig {
  const { chain = 'read', ...rest } = more;
  const clock = createClock();
  const world: World = { ...system, nowMs: clock.nowMs, monotonicMs: clock.nowMs, after: clock.after };
  const ledger: Ledger = { landed: new Map(), canceled: new Set() };
  const calls = { supported: 0, verify: 0, settle: 0, fate: 0 };
  const settles: SettleScript[] = [];
  const verifies: TransportResult[] = [];
  const events: SellerEvent[] = [];
  const transport = scripted({ ledger, calls, settles, verifies });
  const options: SellerOptions = {
    world,
    store: createMemoryStore({ world }),
    facilitator: createFacilitator(transport),
    ...(chain === 'read' ? { chains: { [network]: scriptedChain(ledger, calls, clock.nowMs) } } : {}),
    origin,
    accepts: [{ network, payTo }],
    assets: [dollar],
    storeKey: secret,
    observe: (event) => events.push(event),
    ...rest,
  };
  const buyer = buyerOf(0x11);
  return {
    world,
    clock,
    seller: createSeller(options),
    options,
    events,
    ledger,
    calls,
    settles,
    verifies,
    buyer,
    another: (extra = {}) => createSeller({ ...options, ...extra }),
    pay: (required, extra = {}) => sign(required, { world, buyer, ...extra }),
  };
}

async function sign(
  required: PaymentRequired,
  how: PayOptions & { readonly world: World; readonly buyer: DigestSigner },
): Promise<PaymentPayload> {
  const [requirement] = required.accepts;
  if (requirement === undefined) throw new Error('nothing is accepted');
  return signExactEvm({
    requirement,
    signer: how.buyer,
    nowMs: how.nowMs ?? how.world.nowMs(),
    random: how.world.random,
    resource: required.resource,
    ...(how.nonce === undefined ? {} : { nonce: how.nonce }),
  });
}

/** An answer that no facilitator would give twice: JSON with a status. */
export function said(body: JsonObject, status: number = 200): TransportResult {
  return { kind: 'answer', status, body };
}

function scripted(parts: {
  readonly ledger: Ledger;
  readonly calls: Rig['calls'];
  readonly settles: SettleScript[];
  readonly verifies: TransportResult[];
}): FacilitatorTransport {
  const { ledger, calls, settles, verifies } = parts;
  return async (call) => {
    calls[call.call] += 1;
    if (call.call === 'supported') {
      return said({ kinds: [{ x402Version: 2, scheme: 'exact', network }], extensions: [], signers: {} });
    }
    const authorization = authorizationOf(call);
    if (call.call === 'verify') return verifies.shift() ?? said({ isValid: true, payer: authorization.from });
    const script = settles.shift() ?? { says: 'success' };
    await script.before;
    const id = `${authorization.from}/${authorization.nonce}`;
    const known = ledger.landed.get(id);
    const fresh =
      known === undefined && script.says !== 'unsent' && (script.lands ?? script.says === 'success');
    const transaction = known?.transaction ?? transactionOf(ledger.landed.size + 1);
    if (fresh) ledger.landed.set(id, { transaction, amount: authorization.value, payTo: authorization.to });
    await script.hold;
    if (script.says === 'lost') return { kind: 'failed', why: 'timeout' };
    if (script.says === 'unsent') return { kind: 'unsent' };
    if (script.says !== 'success') return script.says;
    if (!fresh) {
      return said({
        success: false,
        errorReason: 'invalid_exact_evm_nonce_already_used',
        transaction: '',
        network,
      });
    }
    return said({ success: true, payer: authorization.from, transaction, network });
  };
}

/** A transaction hash that names its number. */
export function transactionOf(n: number): string {
  return `0x${n.toString(16).padStart(64, '0')}`;
}

type Authorization = {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly nonce: string;
};

function authorizationOf(call: FacilitatorCall & { readonly call: 'verify' | 'settle' }): Authorization {
  const payment = call.body.paymentPayload as JsonObject;
  const payload = payment.payload as JsonObject;
  return payload.authorization as unknown as Authorization;
}

function scriptedChain(ledger: Ledger, calls: Rig['calls'], nowMs: () => number): ChainReader {
  return {
    blockNumber: async () => 100,
    head: async () => ({ block: 100, timeMs: nowMs() }),
    hasCode: async () => false,
    fate: async (question): Promise<AuthorizationFate> => {
      calls.fate += 1;
      const id = `${question.payer}/${question.nonce}`;
      if (ledger.canceled.has(id)) return { kind: 'canceled', transaction: transactionOf(999), block: 101 };
      const landed = ledger.landed.get(id);
      if (landed === undefined) return { kind: 'unused', block: 101 };
      const ours = landed.amount === question.amount.toString() && landed.payTo === question.payTo;
      return { kind: ours ? 'settled' : 'used_elsewhere', transaction: landed.transaction, block: 101 };
    },
  };
}

export type Ask = {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: HeaderList;
  readonly body?: string | BodyResult;
  readonly payment?: PaymentPayload | string;
};

/** A request as an adapter hands it over. */
export function requestOf(ask: Ask = {}): SellerRequest {
  const { method = 'GET', target = '/weather', headers = [], body = '' } = ask;
  const paid: HeaderList =
    ask.payment === undefined
      ? []
      : [
          [
            'payment-signature',
            typeof ask.payment === 'string' ? ask.payment : encodePaymentSignature(ask.payment),
          ],
        ];
  return {
    method,
    target,
    headers: [
      ...(headers.some(([name]) => name === 'host') ? [] : [['host', 'api.example.com'] as const]),
      ...headers,
      ...paid,
    ],
    readBody: async () =>
      typeof body === 'string' ? { kind: 'bytes', bytes: new TextEncoder().encode(body) } : body,
  };
}

/** A whole answer with a text body. */
export function answerOf(text: string, status: number = 200, headers: HeaderList = []): Answer {
  return {
    status,
    headers: [['content-type', 'text/plain'], ...headers],
    body: new TextEncoder().encode(text),
  };
}

export type Seen = {
  readonly status: number;
  readonly text: string;
  readonly headers: HeaderList;
  readonly header: (name: string) => string | undefined;
  readonly problem: {
    readonly code: string;
    readonly money: string;
    readonly retry: string;
    readonly [name: string]: unknown;
  };
  readonly required: PaymentRequired | undefined;
  readonly response: SettlementResponse | undefined;
};

/** Reads a delivery as a buyer would; reports the writing as complete unless told otherwise. */
export async function read(
  delivery: Delivery | Promise<Delivery>,
  how: 'complete' | 'cut' | 'unread' = 'complete',
): Promise<Seen> {
  const { answer, written } = await delivery;
  if (how !== 'unread') await written(how);
  const header = (name: string): string | undefined => answer.headers.find(([key]) => key === name)?.[1];
  const text = new TextDecoder().decode(answer.body);
  const isProblem = header('content-type') === 'application/problem+json';
  const required = header('payment-required');
  const response = header('payment-response');
  return {
    status: answer.status,
    text,
    headers: answer.headers,
    header,
    problem: isProblem ? JSON.parse(text) : { code: '', money: '', retry: '' },
    required: required === undefined ? undefined : opened(decodePaymentRequired(required)),
    response: response === undefined ? undefined : opened(decodePaymentResponse(response)),
  };
}

function opened<T>(outcome: { readonly ok: true; readonly value: T } | { readonly ok: false }): T {
  if (!outcome.ok) throw new Error('a header of ours cannot be read');
  return outcome.value;
}
