/**
 * The request target as it was received (RFC 9112, section 3.2), down to its path. Targets that no client sends are
 * not read at all: frameworks take them apart so differently that no list of readings would be whole. Express, for
 * one, runs the handler of `/:tenant/weather` for `/{xx/Aweather#`, since a `#` makes it measure a mounted path in
 * one spelling and cut it off in another.
 */

export type ReceivedTarget =
  /** `malformed`: some server cannot decode it, or decodes it to what no path has. */
  | { readonly kind: 'path'; readonly path: string; readonly malformed: boolean }
  /** `*`, which asks about the server as a whole. */
  | { readonly kind: 'server' }
  | { readonly kind: 'unreadable' };

/** Octets; no priced target may be longer either. */
const maxPathLength = 8192;

/** A fragment never belongs to a target, and white space and control characters end one or are dropped by some. */
const neverSent = /[#\s\p{Cc}]/u;
/** Scheme, a host without a user, and nothing in the path that a parser of whole URLs would write anew. */
const absolute =
  /^[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{0,5})?(?:\/[\w.~!$&()*+,;=:@%/-]*)?(?:\?.*)?$/i;
const foreign = /[^!-~]/;
const zero = /%00/;

/** Takes a target apart; what is `unreadable` is to be refused whatever is sold. */
export function readTarget(target: string): ReceivedTarget {
  if (neverSent.test(target)) return { kind: 'unreadable' };
  if (target === '*') return { kind: 'server' };
  if (target.startsWith('/')) return pathOf(target);
  // From the two slashes on: a reading drops the host behind them, as for any reference to another one.
  return absolute.test(target) ? pathOf(target.slice(target.indexOf(':') + 1)) : { kind: 'unreadable' };
}

function pathOf(target: string): ReceivedTarget {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  if (path.length > maxPathLength) return { kind: 'unreadable' };
  return { kind: 'path', path, malformed: foreign.test(path) || zero.test(path) || !isDecodable(path) };
}

/** Broken escapes, overlong forms and octets that are no UTF-8 are not. */
function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
