/**
 * An answer as octets, to be sealed and kept (design section 3): without Set-Cookie and without the fields that
 * belong to one connection. Layout: u32 length of the head | head as JSON | body.
 */
import { decodeUtf8, encodeUtf8 } from '../wire/utf8.ts';
import type { Answer, HeaderList } from './message.ts';

/** Fields of one connection, of one client, or of ours; none of them is part of what was bought. */
const dropped: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The octets of an answer as it is kept. */
export function encodeAnswer(answer: Answer): Uint8Array {
  const headers = answer.headers.filter(([name]) => !dropped.has(name));
  const head = encodeUtf8(JSON.stringify({ status: answer.status, headers }));
  const bytes = new Uint8Array(4 + head.length + answer.body.length);
  new DataView(bytes.buffer).setUint32(0, head.length);
  bytes.set(head, 4);
  bytes.set(answer.body, 4 + head.length);
  return bytes;
}

/** The answer that {@link encodeAnswer} wrote, or undefined for other octets. */
export function decodeAnswer(bytes: Uint8Array): Answer | undefined {
  if (bytes.length < 4) return undefined;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const text = length <= bytes.length - 4 ? decodeUtf8(bytes.subarray(4, 4 + length)) : undefined;
  if (text === undefined) return undefined;
  const head = parseHead(text);
  return head === undefined ? undefined : { ...head, body: bytes.subarray(4 + length) };
}

function parseHead(text: string): { readonly status: number; readonly headers: HeaderList } | undefined {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('status' in value) || !('headers' in value))
    return undefined;
  const { status, headers } = value;
  if (typeof status !== 'number' || !Array.isArray(headers) || !headers.every(isField)) return undefined;
  return { status, headers };
}

function isField(field: unknown): field is readonly [string, string] {
  return Array.isArray(field) && typeof field[0] === 'string' && typeof field[1] === 'string';
}
