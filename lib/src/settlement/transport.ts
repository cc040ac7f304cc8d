/**
 * The two ways to reach a facilitator: over HTTP, bounded and without redirects (F04, F06, F09), and in process.
 */
import { isJsonObject, parseJson } from '../wire/json.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import type { JsonObject } from '../wire/v2.ts';
import type { Http } from '../world.ts';
import type { FacilitatorCall, FacilitatorTransport, TransportResult } from './facilitator.ts';

/** A facilitator's answer is a few hundred octets; /supported lists many kinds. */
export const maxFacilitatorBytes: number = 64 * 1024;
/** Reading /supported is not worth more. */
const supportedTimeoutMs = 5_000;

export type HttpTransportOptions = {
  /** `https:`, or `http:` on a loopback host. */
  readonly url: string;
  readonly http: Http;
  /** For example an API key; never sent anywhere but to `url`. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Talks to a facilitator over HTTP. Throws TypeError for a URL that would carry payments in clear text. */
export function httpTransport(options: HttpTransportOptions): FacilitatorTransport {
  const base = checkedBase(options.url);
  checkHeaders(options.headers ?? {});
  return async (call, signal) => {
    const { body, timeoutMs } = partsOf(call);
    const result = await options.http({
      method: body === undefined ? 'GET' : 'POST',
      url: `${base}/${call.call}`,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
      timeoutMs,
      maxBytes: maxFacilitatorBytes,
      ...(signal === undefined ? {} : { signal }),
    });
    if (!result.ok) return result.sent ? { kind: 'failed', why: result.why } : { kind: 'unsent' };
    if (result.status >= 300 && result.status < 400) return { kind: 'failed', why: 'redirect' };
    const parsed = parseJson(result.body, { maxLength: maxFacilitatorBytes });
    return { kind: 'answer', status: result.status, body: parsed.ok ? parsed.value : undefined };
  };
}

function partsOf(call: FacilitatorCall): { readonly body?: Uint8Array; readonly timeoutMs: number } {
  if (call.call === 'supported') return { timeoutMs: supportedTimeoutMs };
  return { body: encodeUtf8(JSON.stringify(call.body)), timeoutMs: call.timeoutMs };
}

/** A key that was read with its line end would make every call fail without a word about why. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const sound = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
    if (!sound) throw new TypeError(`The facilitator header "${name}" cannot be sent as it is.`);
  }
}

function checkedBase(text: string): string {
  if (!URL.canParse(text)) throw new TypeError('The facilitator URL is not a URL.');
  const url = new URL(text);
  // A name such as 127.example.com is a stranger's; only a whole address counts, which the parser has made canonical.
  const clear = url.protocol === 'http:' && /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(url.hostname);
  if (url.protocol !== 'https:' && !clear)
    throw new TypeError('The facilitator URL must be https, or http on loopback.');
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(
      'The facilitator URL carries a user, a query or a fragment; put secrets into headers.',
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** The three methods that an official facilitator object has. */
export type LocalFacilitator<Payment, Requirement> = {
  readonly getSupported: () => unknown;
  readonly verify: (payment: Payment, requirement: Requirement) => Promise<unknown>;
  readonly settle: (payment: Payment, requirement: Requirement) => Promise<unknown>;
};

/**
 * Talks to a facilitator in this process. `read` turns our JSON into the object's own types, so that no cast is
 * needed here; what the object throws is an outcome nobody knows.
 */
export function localTransport<Payment, Requirement>(
  facilitator: LocalFacilitator<Payment, Requirement>,
  read: {
    readonly payment: (json: JsonObject) => Payment;
    readonly requirement: (json: JsonObject) => Requirement;
  },
): FacilitatorTransport {
  return async (call) => {
    try {
      if (call.call === 'supported') return answered(await facilitator.getSupported());
      const payment = read.payment(objectAt(call.body, 'paymentPayload'));
      const requirement = read.requirement(objectAt(call.body, 'paymentRequirements'));
      const run =
        call.call === 'verify'
          ? facilitator.verify(payment, requirement)
          : facilitator.settle(payment, requirement);
      return answered(await run);
    } catch {
      return { kind: 'failed', why: 'threw' };
    }
  };
}

/** Through text and the strict parser, so that both transports are read alike. */
function answered(value: unknown): TransportResult {
  const parsed = parseJson(JSON.stringify(value), { maxLength: maxFacilitatorBytes });
  return { kind: 'answer', status: 200, body: parsed.ok ? parsed.value : undefined };
}

function objectAt(body: JsonObject, name: string): JsonObject {
  const value = body[name];
  if (isJsonObject(value)) return value;
  throw new TypeError(`The call has no ${name}.`);
}
