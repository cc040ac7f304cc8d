/**
 * `counterfoil decode`: what an x402 header is, what is in it, what is wrong with it and what would put it right.
 * Nothing of a stranger's text reaches the terminal unescaped (P06).
 */
import { type DescribedField, describeHeader, dialectNames, type HeaderDescription } from 'counterfoil/wire';
import { colorsOf, exits, type Io, MisuseError, writeJson } from '../io.ts';
import { renderTable } from '../table.ts';
import { fullFields } from './fields.ts';
import { type Heading, splitInput } from './input.ts';
import { meaningOf } from './meaning.ts';

export type DecodeOptions = { readonly full?: boolean; readonly json?: boolean };

/** A whole HTTP answer with a page behind it fits; more is not a set of headers. */
const longestInput = 1024 * 1024;

/** What was found out about one header. */
type Finding = HeaderDescription & { readonly meaning: readonly string[] };

const kindNames: { readonly [kind in HeaderDescription['kind']]: string } = {
  required: 'what a seller asks',
  signature: 'what a buyer sends',
  response: 'what became of the money',
  unknown: 'no x402 message',
};

/** Decodes `text`, or standard input for `-`; the exit code is the worst of its headers. */
export async function decode(text: string, options: DecodeOptions, io: Io): Promise<number> {
  const headings = splitInput(text === '-' ? await readInput(io) : text);
  if (headings.length === 0) throw new MisuseError('There is nothing to decode.');
  const findings = headings.map((heading) => find(heading, options, io.nowMs()));
  if (options.json === true) writeJson(io, { headers: findings });
  else io.stdout.write(findings.map((finding) => show(finding, io)).join('\n'));
  return Math.max(...findings.map(exitOf));
}

async function readInput(io: Io): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of io.stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > longestInput)
      throw new MisuseError(`Standard input is longer than ${longestInput} octets; send only the headers.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function find(heading: Heading, options: DecodeOptions, nowMs: number): Finding {
  const { name, value } = heading;
  const description = describeHeader(value, name === undefined ? {} : { name });
  const fields = options.full === true ? fullFields(value) : description.fields;
  return { ...description, fields, meaning: meaningOf(description, value, nowMs) };
}

function exitOf(finding: Finding): number {
  if (finding.kind === 'unknown') return exits.unknown;
  return finding.dialect === 'v2' && finding.problems.length === 0 ? exits.holds : exits.fails;
}

function show(finding: Finding, io: Io): string {
  const colors = colorsOf(io, io.stdout);
  const { name, kind, dialect, encoding, length, fields, problems, advice, meaning } = finding;
  const title = `${name === undefined ? '' : `${name}: `}${kindNames[kind]}`;
  const how = `${dialectNames[dialect]}, ${length} characters${encoding === 'none' ? '' : `, ${encoding}`}`;
  return [
    `${colors.bold(title)}\n${how}\n`,
    ...meaning.map((line) => `${colors.green('=')} ${line}\n`),
    ...problems.map((line) => `${colors.red('x')} ${line}\n`),
    ...advice.map((line) => `${colors.yellow('>')} ${line}\n`),
    fields.length === 0 ? '' : `\n${fieldTable(fields)}`,
  ].join('');
}

function fieldTable(fields: readonly DescribedField[]): string {
  return renderTable({
    head: ['', ''],
    rows: fields.map(({ path, value }) => [path, value]),
    indent: '  ',
  });
}
