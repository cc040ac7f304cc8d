/**
 * A JSON-RPC client for the few read calls that settle a doubt. Reads may be repeated; nothing here writes.
 */

import { isJsonObject, parseJson } from '../wire/json.ts';
import { decodeUtf8, encodeUtf8 } from '../wire/utf8.ts';
import type { Json } from '../wire/v2.ts';
import type { Http } from '../world.ts';
import { checkFunction, checkHeaders, checkHttpUrl, checkMembers, checkTimeout } from './option.ts';

export type RpcOptions = {
  readonly url: string;
  readonly http: Http;
  readonly headers?: Readonly<Record<string, string>>;
  /** For one call; default 2 s, since a buyer waits for it (design 9.1). */
  readonly timeoutMs?: number;
};

export type RpcResult =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly why: string;
      /** True where the endpoint is well and said no to this one call. */
      readonly declined?: true;
    };
export type Rpc = (method: string, params: readonly Json[]) => Promise<RpcResult>;

const defaultTimeoutMs = 2_000;
/** A log query over one nonce gives a handful of logs. */
const maxAnswerBytes = 1024 * 1024;

const optionNames: ReadonlySet<string> = new Set(['url', 'http', 'headers', 'timeoutMs']);

/** One endpoint. Throws TypeError for a URL that is neither http nor https, and for other options that are none. */
export function createRpc(options: RpcOptions): Rpc {
  checkMembers('createRpc', options, optionNames);
  checkHttpUrl('url', options.url);
  checkFunction('http', options.http);
  checkHeaders('headers', options.headers);
  checkTimeout(options.timeoutMs);
  let lastId = 0;
  return async (method, params) => {
    lastId += 1;
    const result = await options.http({
      method: 'POST',
      url: options.url,
      headers: { 'content-type': 'application/json', ...options.headers },
      body: encodeUtf8(JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })),
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      maxBytes: maxAnswerBytes,
    });
    if (!result.ok) return { ok: false, why: result.why };
    if (result.status !== 200) return { ok: false, why: `status ${result.status}` };
    return readResult(result.body);
  };
}

function readResult(bytes: Uint8Array): RpcResult {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { ok: false, why: 'not text' };
  const parsed = parseJson(text, { maxLength: maxAnswerBytes });
  if (!parsed.ok || !isJsonObject(parsed.value)) return { ok: false, why: 'not JSON' };
  if (parsed.value.error !== undefined && parsed.value.error !== null) {
    return { ok: false, why: 'error', declined: true };
  }
  const value = parsed.value.result;
  return value === undefined ? { ok: false, why: 'no result' } : { ok: true, value };
}
