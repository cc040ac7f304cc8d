/**
 * Texts of strangers made fit for a terminal or a log: what moves the cursor, reorders or hides characters is
 * escaped, and what is long is cut (attack P06).
 */

/** Controls, format characters (bidirectional, zero-width), separators, surrogates, private and unassigned characters, odd spaces. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** A line of a terminal or two. */
const defaultLength = 160;

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** The text with every unprintable character as `\u{...}`, cut after about `length` characters. */
export function displayText(text: string, length: number = defaultLength): string {
  const cut = text.slice(0, length).replace(unprintable, escapeCharacter);
  return text.length > length ? `${cut}… (${text.length} characters)` : cut;
}
