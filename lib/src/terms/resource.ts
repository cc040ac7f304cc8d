/**
 * What a 402 says about the resource beside its URL (x402 v2 section 5.1, bazaar on service metadata): five members
 * and no others (H13). What breaks a rule is left out and named, because a bad icon is no reason not to sell; what
 * has the wrong type is a mistake in the program. All of it travels as base64 of JSON, so a description may be
 * written in any language (H11).
 */
import { iconUrlText, labelText } from '../wire/shape.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import type { ResourceInfo } from '../wire/v2.ts';

/** What a seller may say of a resource; {@link describeResource} has the rules. */
export type ResourceOptions = {
  readonly description?: string;
  readonly mimeType?: string;
  readonly serviceName?: string;
  readonly tags?: readonly string[];
  readonly iconUrl?: string;
};

/** A member that was left out or changed, as `iconUrl` or `tags[2]`, and why. */
export type DroppedField = { readonly field: string; readonly why: string };

/** The members that may leave, and what became of the others. */
export type ResourceDescription = {
  readonly resource: Omit<ResourceInfo, 'url'>;
  readonly dropped: readonly DroppedField[];
};

/**
 * Octets of UTF-8: a paragraph. As base64 it takes 684 of the 3,072 octets at which a 402 becomes too large for
 * some proxies, which leaves room for three ways to pay and a small bazaar declaration.
 */
export const maxDescriptionLength = 512;
/** Characters; a type with a charset or a profile is shorter. */
const maxMimeTypeLength = 128;
/** Section 5.1. */
const maxTags = 5;

/** RFC 9110 section 8.3.1, with the names of RFC 6838 section 4.2. */
const mediaType =
  /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*(?: ?; ?[A-Za-z0-9!#$&^_.+-]+=(?:[A-Za-z0-9!#$&^_.+-]+|"[ !#-[\]-~]*"))*$/;
/** Controls, line and paragraph separators, and the characters that reorder a line (attack P06). */
const unlinear = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;
/** Last labels of names that no public resolver knows (RFC 6761, RFC 6762, and the reserved .internal). */
const localNames: ReadonlySet<string> = new Set(['internal', 'local', 'localdomain', 'localhost']);
const ellipsis = '…';
const graphemes: Intl.Segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

const rules: { readonly [name in keyof Required<ResourceOptions>]: 'text' | 'texts' } = {
  description: 'text',
  mimeType: 'text',
  serviceName: 'text',
  tags: 'texts',
  iconUrl: 'text',
};

/**
 * Keeps what may be published: `description` as one line of at most {@link maxDescriptionLength} octets, `mimeType`
 * as a media type, `serviceName` and up to 5 distinct `tags` of printable ASCII, `iconUrl` at a public host. An
 * unknown member or a wrong type is a TypeError; anything else that does not fit is named in `dropped`.
 */
export function describeResource(options: ResourceOptions): ResourceDescription {
  checkTypes(options);
  const { description, mimeType, serviceName, tags, iconUrl } = options;
  const dropped: DroppedField[] = [];
  const drop = (field: string, why: string): void => {
    dropped.push({ field, why });
  };
  const resource: { -readonly [name in keyof ResourceOptions]: ResourceOptions[name] } = {};

  if (description !== undefined) {
    const line = oneLine(description, drop);
    if (line !== '') resource.description = line;
  }
  if (mimeType !== undefined) {
    if (mimeType.length <= maxMimeTypeLength && mediaType.test(mimeType)) resource.mimeType = mimeType;
    else drop('mimeType', `expected a media type of at most ${maxMimeTypeLength} characters`);
  }
  if (serviceName !== undefined) {
    if (labelText.test(serviceName)) resource.serviceName = serviceName;
    else drop('serviceName', `expected ${labelText.expected}`);
  }
  if (tags !== undefined) {
    const kept = distinctTags(tags, drop);
    if (kept.length > 0) resource.tags = Object.freeze(kept);
  }
  if (iconUrl !== undefined) {
    const icon = publicUrl(iconUrl);
    if (icon.ok) resource.iconUrl = icon.href;
    else drop('iconUrl', icon.why);
  }
  return Object.freeze({ resource: Object.freeze(resource), dropped: Object.freeze(dropped) });
}

/** The text in at most `maxOctets` of UTF-8, cut between two characters as people see them and ended with `…`. */
export function cutText(text: string, maxOctets: number): string {
  const whole = text.toWellFormed();
  if (encodeUtf8(whole).length <= maxOctets) return whole;
  let kept = '';
  let octets = encodeUtf8(ellipsis).length;
  for (const { segment } of graphemes.segment(whole)) {
    octets += encodeUtf8(segment).length;
    if (octets > maxOctets) break;
    kept += segment;
  }
  return `${kept.trimEnd()}${ellipsis}`;
}

function checkTypes(options: ResourceOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(rules, name)) throw new TypeError(`A resource has no member "${name}".`);
    if (value === undefined || typeof value === 'string') continue;
    if (name !== 'tags') throw new TypeError(`${name} must be a string.`);
  }
  const tags: unknown = options.tags;
  if (tags === undefined) return;
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) {
    throw new TypeError('tags must be a list of strings.');
  }
}

type Drop = (field: string, why: string) => void;

function oneLine(text: string, drop: Drop): string {
  const line = text.toWellFormed().replace(unlinear, ' ').trim();
  if (line === '') {
    drop('description', 'expected some text');
    return '';
  }
  if (line !== text.trim()) drop('description', 'control characters and broken characters were replaced');
  const cut = cutText(line, maxDescriptionLength);
  if (cut !== line) drop('description', `cut to ${maxDescriptionLength} octets of UTF-8`);
  return cut;
}

/** The first five that keep the rule; two tags that differ in letter case alone are one. */
function distinctTags(tags: readonly string[], drop: Drop): string[] {
  const seen = new Set<string>();
  const kept: string[] = [];
  for (const [index, tag] of tags.entries()) {
    const key = tag.toLowerCase();
    if (!labelText.test(tag)) drop(`tags[${index}]`, `expected ${labelText.expected}`);
    else if (seen.has(key)) drop(`tags[${index}]`, 'stands twice');
    else if (kept.length === maxTags) drop(`tags[${index}]`, `expected at most ${maxTags} tags`);
    else {
      seen.add(key);
      kept.push(tag);
    }
  }
  return kept;
}

/**
 * What leaves is the URL as it was parsed, so that no other parser finds another host in it. Parsing has decoded
 * the host's percent escapes, mapped it to ASCII and written every form of an IPv4 address with dots.
 */
function publicUrl(
  text: string,
): { readonly ok: true; readonly href: string } | { readonly ok: false; readonly why: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !iconUrlText.test(text) || !iconUrlText.test(url.href)) {
    return { ok: false, why: `expected ${iconUrlText.expected}` };
  }
  if (url.username !== '' || url.password !== '') return { ok: false, why: 'a user stands before its host' };
  const labels = url.hostname.replace(/\.$/, '').split('.');
  const last = labels.at(-1) ?? '';
  if (/^\[|^[0-9]+$/.test(last)) return { ok: false, why: 'its host is an IP address' };
  if (labels.length < 2 || localNames.has(last)) return { ok: false, why: 'its host is a local name' };
  return { ok: true, href: url.href };
}
