/**
 * Addresses that somebody typed, made fit to be repeated: they may hold a password in their user, or a key in their path
 * or query, and what a program says ends in logs and tickets (attacks P06, H13).
 */

/**
 * An address by a scheme that is known, or by what follows any other. A password may hold blanks and quotation marks, so
 * it reaches at least to the last `@` of the line.
 */
const address =
  /(?<![a-z0-9])(?:(?:https?|wss?|postgres(?:ql)?|rediss?|valkeys?)(?=:)|[a-z][a-z0-9+.-]*(?=:(?:\/\/|\S*@))):(?:.*@)?[^\s"'<>]*/gi;
/** No sentence is longer; beyond it the search would take its time, and the rest is left out. */
const longestText = 8_192;
const hostShape = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** The text with every address in it cut down to its scheme, and to its host where no doubt is which part that is. */
export function hushed(text: string): string {
  const cut = text.length > longestText ? `${text.slice(0, longestText)}…` : text;
  return cut.replace(address, cutDown);
}

function cutDown(whole: string): string {
  const [begin = ''] = /^[^:]*:\/*/.exec(whole) ?? [];
  const rest = whole.slice(begin.length);
  if (rest === '' || (rest.startsWith('…') && !rest.includes('@'))) return whole;
  const host = hostOf(rest);
  if (host === rest) return whole;
  return `${begin}${host === undefined ? '' : `${host}/`}…`;
}

/** Undefined where an `@` after the first slash may end a password that holds one. */
function hostOf(rest: string): string | undefined {
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return hostShape.test(host) && !rest.includes('@', authority.length) ? host : undefined;
}
