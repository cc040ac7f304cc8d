/**
 * Finds the x402 headers in what a person pastes or pipes: a value, a line, or a whole answer as `curl -i` and
 * `curl -v` print it, with the body of a version 1 seller after it.
 */
import { recogniseHeaderName } from 'counterfoil/wire';

/** A header's value, and its name where the text says it. */
export type Heading = { readonly name: string | undefined; readonly value: string };

/** `Name: value`; base64 has no colon, and JSON does not begin like a name. */
const linePattern = /^([A-Za-z][A-Za-z0-9-]{0,63}):[ \t]*(.*)$/;
/** What curl writes before the lines of a verbose exchange. */
const curlPrefix = /^[<>] /;

/** The headers in the text, in their order; at least one, unless the text is empty. */
export function splitInput(text: string): readonly Heading[] {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  if (/^[{["]/.test(trimmed)) return [{ name: undefined, value: trimmed }];
  const [head = '', ...rest] = trimmed.split(/\r?\n\r?\n/);
  const lines = head.split(/\r?\n/).map((line) => line.replace(curlPrefix, ''));
  const named = lines.map(readLine).filter((line) => line !== undefined);
  const known = named.filter(({ name }) => recogniseHeaderName(name ?? '') !== undefined);
  if (known.length > 0) return known;
  const body = rest.join('\n\n').trim();
  if (body.startsWith('{')) return [{ name: undefined, value: body }];
  if (named.length > 0 && named.length === lines.length) return named.slice(0, 1);
  // Mail programs and terminals fold long lines; base64 knows no white space.
  return [{ name: undefined, value: trimmed.replace(/\s+/g, '') }];
}

function readLine(line: string): Heading | undefined {
  const parts = linePattern.exec(line.trim());
  return parts === null ? undefined : { name: parts[1], value: (parts[2] ?? '').trim() };
}
