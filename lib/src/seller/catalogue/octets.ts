/** Percent-encoded octets, read as the most careless decoder would read them (H04). */

/** Decodes once; an encoded slash or backslash stays encoded, as for routers that split before they decode. */
export function decodeOctets(text: string): string {
  return (
    decodeWell(text.replace(/%(?=2f|5c)/gi, '%25')) ??
    text.replace(octets, (run) => decodeRun(run).replace(/[/\\]/g, encodeURIComponent))
  );
}

/** The `%u002f` of `unescape`. */
export function decodeUnits(text: string): string {
  return text.replace(/%u([0-9a-f]{4})/gi, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Nearly every path is well encoded, and this is fast. */
function decodeWell(text: string): string | undefined {
  if (/[\u0080-\u00ff]/.test(text)) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const octets = /(?:%[0-9a-f]{2}|[\u0080-\u00ff])+/gi;

/** Escapes and raw octets as UTF-8, overlong forms included, which RFC 3629 forbids (section 3). */
function decodeRun(run: string): string {
  const bytes = [...run.matchAll(/%(..)|[^%]/g)].map(([raw, digits]) =>
    digits === undefined ? raw.charCodeAt(0) : Number.parseInt(digits, 16),
  );
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const { point, length } = pointAt(bytes, at);
    text += String.fromCodePoint(point);
    at += length;
  }
  return text;
}

const replacement = { point: 0xfffd, length: 1 };

function pointAt(bytes: readonly number[], at: number): { readonly point: number; readonly length: number } {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return { point: first, length: 1 };
  if (first < 0xc0 || first > 0xf7) return replacement;
  const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  const rest = bytes.slice(at + 1, at + 1 + more);
  if (rest.length < more || rest.some((byte) => byte >> 6 !== 2)) return replacement;
  const point = rest.reduce((sum, byte) => (sum << 6) | (byte & 0x3f), first & (0x3f >> more));
  return point > 0x10ffff ? replacement : { point, length: more + 1 };
}
