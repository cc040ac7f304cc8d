/**
 * The members of a message in full, for a person who asked for them: signatures are what makes a payment's bytes
 * spendable, so `describeHeader` shortens them and only `--full` comes here. Everything is still escaped.
 */
import {
  type DescribedField,
  decodeBase64,
  displayText,
  isJsonObject,
  type Json,
  parseJson,
} from 'counterfoil/wire';

/** The longest text that `describeHeader` opens; a longer one has no fields there either. */
const longestText = 64 * 1024;
/** Rows; a message with more is not read by eye. */
const mostFields = 2_000;

/** Every leaf of the message with its whole text; empty where the value cannot be opened. */
export function fullFields(value: string): readonly DescribedField[] {
  const json = open(value);
  if (json === undefined) return [];
  const fields: DescribedField[] = [];
  collect(fields, isJsonObject(json) ? '' : 'message', json);
  return fields;
}

function open(value: string): Json | undefined {
  if (value.length > longestText) return undefined;
  const limits = { maxLength: longestText };
  if (/^[{["]/.test(value)) {
    const parsed = parseJson(value, limits);
    return parsed.ok ? parsed.value : undefined;
  }
  const bytes = decodeBase64(value);
  const parsed = bytes.ok ? parseJson(bytes.value, limits) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}

function collect(fields: DescribedField[], path: string, value: Json): void {
  if (fields.length >= mostFields) return;
  if (typeof value !== 'object' || value === null) {
    fields.push({ path, value: displayText(String(value), longestText) });
    return;
  }
  const members = isJsonObject(value)
    ? Object.entries(value).map(([key, member]) => [join(path, key), member] as const)
    : value.map((member, index) => [`${path}[${index}]`, member] as const);
  if (members.length === 0) fields.push({ path, value: isJsonObject(value) ? '{}' : '[]' });
  for (const [name, member] of members) collect(fields, name, member);
}

function join(path: string, key: string): string {
  const name = displayText(key, 64);
  return path === '' ? name : `${path}.${name}`;
}
