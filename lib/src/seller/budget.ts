/**
 * How large the head of an answer may be (design 4, H09). A default nginx gives up on a head above 4 KiB, after the
 * payment if need be, and other proxies refuse a single field above 3 KiB; so a 402 is shortened by what the payment
 * does not need, and a paid answer by fields of the handler that it can be read without.
 */
import { bazaarKey, withoutDetails, withoutOutput } from '../terms/bazaar.ts';
import { cutText } from '../terms/resource.ts';
import { isJsonObject } from '../wire/json.ts';
import type { JsonObject, PaymentRequired, ResourceInfo } from '../wire/v2.ts';
import type { HeaderList } from './message.ts';

/** Octets of a PAYMENT-RESPONSE's value: a settlement is about 400, a v1 receipt and a reference fit beside it. */
export const maxPaymentResponseLength = 2560;
/** Octets of a paid answer's whole head; the rest of 4 KiB is for what servers and proxies add (Date, Via, …). */
export const maxPaidFieldsLength = 3584;
/** Octets of a PAYMENT-REQUIRED's value that every proxy lets through (H09: 3.0 kB was one's limit). */
export const warnRequiredLength = 3072;
/** Octets of a PAYMENT-REQUIRED's value: beyond it a buyer's own server or client may not read the answer at all. */
export const maxRequiredLength = 8192;

/** The longest status line with a registered reason, `HTTP/1.1 511 Network Authentication Required`. */
const statusLineLength = 46;
/** `: ` and CRLF. */
const fieldOverhead = 4;
/** CRLF after the last field. */
const endLength = 2;
/** Octets of UTF-8 that a description keeps, one after the other, before it goes altogether. */
const descriptionLengths = [256, 128];

/** The header with what was left out to make it fit, or the size that even the barest one would have. */
export type FittedRequired =
  | { readonly header: string; readonly dropped: readonly string[]; readonly size: number }
  | { readonly tooLarge: number };

type Reduction = readonly [field: string, reduce: (message: PaymentRequired) => PaymentRequired];

/**
 * What goes first helps the one who is to pay least: the picture, then what the answer will look like, then the
 * exact types of the input (its examples stay, and the declaration still validates), then words for a catalogue,
 * then the rest of the bazaar, and last the sentence that says what is sold. Ways to pay, the error, the URL and all
 * other extensions are not metadata and never go.
 */
const removals: readonly Reduction[] = [
  ['resource.iconUrl', (message) => inResource(message, ({ iconUrl: _, ...rest }) => rest)],
  ['extensions.bazaar.info.output', (message) => inBazaar(message, withoutOutput)],
  ['extensions.bazaar.schema', (message) => inBazaar(message, withoutDetails)],
  ['resource.tags', (message) => inResource(message, ({ tags: _, ...rest }) => rest)],
  ['resource.serviceName', (message) => inResource(message, ({ serviceName: _, ...rest }) => rest)],
  ['extensions.bazaar', (message) => inBazaar(message, () => undefined)],
  ['resource.description', (message) => inResource(message, ({ description: _, ...rest }) => rest)],
];
/** The same, where the description is cut before it goes. */
const reductions: readonly Reduction[] = [
  ...removals.slice(0, -1),
  ...descriptionLengths.map((most): Reduction => ['resource.description', (message) => cut(message, most)]),
  ...removals.slice(-1),
];

/**
 * Encodes a 402's message. Above {@link warnRequiredLength} it is shortened, as far as it takes or goes, and
 * `dropped` names what went; above {@link maxRequiredLength} even then, it is `tooLarge`. `size` counts the value.
 */
export function fitRequired(
  message: PaymentRequired,
  encode: (message: PaymentRequired) => string,
): FittedRequired {
  const header = encode(message);
  if (header.length <= warnRequiredLength) return { header, dropped: [], size: header.length };
  return shortenRequired(message, encode);
}

function shortenRequired(
  message: PaymentRequired,
  encode: (message: PaymentRequired) => string,
): FittedRequired {
  // The barest first: whoever asks with a long URL shall not make us encode it ten times.
  const barest = removals.reduce(reduced, { message, dropped: [] });
  const header = encode(barest.message);
  if (header.length > maxRequiredLength) return { tooLarge: header.length };
  let stage: Stage = { message, dropped: [] };
  for (const reduction of header.length <= warnRequiredLength ? reductions : []) {
    const next = reduced(stage, reduction);
    if (next === stage) continue;
    stage = next;
    const tried = encode(stage.message);
    if (tried.length <= warnRequiredLength) {
      return { header: tried, dropped: stage.dropped, size: tried.length };
    }
  }
  return { header, dropped: barest.dropped, size: header.length };
}

type Stage = { readonly message: PaymentRequired; readonly dropped: readonly string[] };

/** The next stage, or the same one where there is nothing to take out. */
function reduced(stage: Stage, [field, reduce]: Reduction): Stage {
  const message = reduce(stage.message);
  if (message === stage.message) return stage;
  const dropped = stage.dropped.includes(field) ? stage.dropped : [...stage.dropped, field];
  return { message, dropped };
}

function inResource(
  message: PaymentRequired,
  reduce: (resource: ResourceInfo) => ResourceInfo,
): PaymentRequired {
  const resource = reduce(message.resource);
  const gone = Object.keys(resource).length < Object.keys(message.resource).length;
  return gone ? { ...message, resource } : message;
}

function cut(message: PaymentRequired, length: number): PaymentRequired {
  const { description } = message.resource;
  if (description === undefined) return message;
  const shorter = cutText(description, length);
  return shorter === description
    ? message
    : { ...message, resource: { ...message.resource, description: shorter } };
}

function inBazaar(
  message: PaymentRequired,
  reduce: (declaration: JsonObject) => JsonObject | undefined,
): PaymentRequired {
  const { extensions = {}, ...core } = message;
  const { [bazaarKey]: declaration, ...others } = extensions;
  if (!isJsonObject(declaration)) return message;
  const reduced = reduce(declaration);
  if (reduced === declaration) return message;
  if (reduced !== undefined) return { ...message, extensions: { ...extensions, [bazaarKey]: reduced } };
  return Object.keys(others).length === 0 ? core : { ...message, extensions: others };
}

/**
 * Octets of a head with these fields as HTTP/1.1 writes it: a status line of the longest kind, `name: value` and
 * CRLF for each line, and the empty line. A value has one octet for each character, because no other can be sent.
 */
export function fieldSize(headers: HeaderList): number {
  return headers.reduce((size, line) => size + lineSize(line), statusLineLength + endLength);
}

function lineSize([name, value]: HeaderList[number]): number {
  return name.length + value.length + fieldOverhead;
}

/**
 * Fields that stay whatever their size. Ours; those that say how the body is read (`content-…` and what frames or
 * signs it) or where to go on; those without which a page of another origin may not read what it paid for; and
 * those that protect whoever sees the page, because an answer that fails is better than one that is unsafe.
 */
const keptPrefixes: readonly string[] = [
  'access-control-',
  'content-',
  'counterfoil-',
  'cross-origin-',
  'payment-',
];
const keptNames: ReadonlySet<string> = new Set([
  'cache-control',
  'connection',
  'digest',
  'location',
  'permissions-policy',
  'referrer-policy',
  'repr-digest',
  'retry-after',
  'signature',
  'signature-input',
  'strict-transport-security',
  'trailer',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
  'x-frame-options',
]);
/**
 * Cookies go last: they hold a state that the buyer may need, but a kept answer is delivered again without them
 * (design 3), so no paid answer can rest on them. All of them go together, since half of a state is worse than none.
 */
const cookies = 'set-cookie';

/** What is left of an answer's fields; `size` is above the budget where only fields that stay are left. */
export type ShortenedFields = {
  readonly headers: HeaderList;
  readonly dropped: readonly string[];
  readonly size: number;
};

/**
 * Takes a handler's own fields out of an answer that is paid already, the largest first, until {@link fieldSize} is
 * within the budget. All lines of one name are one field. An answer that is not charged yet is refused instead.
 */
export function shortenFields(headers: HeaderList, budget: number): ShortenedFields {
  let size = fieldSize(headers);
  if (size <= budget) return { headers, dropped: [], size };
  const dropped: string[] = [];
  for (const [name, length] of removable(headers)) {
    if (size <= budget) break;
    dropped.push(name);
    size -= length;
  }
  return { headers: headers.filter(([name]) => !dropped.includes(name)), dropped, size };
}

function stays(name: string): boolean {
  return keptNames.has(name) || keptPrefixes.some((prefix) => name.startsWith(prefix));
}

function removable(headers: HeaderList): readonly (readonly [name: string, size: number])[] {
  const sizes = new Map<string, number>();
  for (const line of headers) {
    const [name] = line;
    if (!stays(name)) sizes.set(name, (sizes.get(name) ?? 0) + lineSize(line));
  }
  // The sort is stable, so of two equal ones the first in the answer goes first.
  return [...sizes].sort(
    ([left, large], [right, small]) => Number(left === cookies) - Number(right === cookies) || small - large,
  );
}
