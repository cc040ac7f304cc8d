/**
 * Writes the pages of docs/reference that are made from the source: the table of problems. A page that is out
 * of date fails the test beside this file; `npm run reference` writes it anew.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, type Money, type ProblemCode, problems, type Retry } from '../lib/src/problem.ts';

const moneySays: Readonly<Record<Money, string>> = {
  unmoved: 'this payment was never sent, or its refusal is proven',
  moved: 'this payment settled',
  unknown: 'this payment may have settled; it is never treated as failed',
};
const retrySays: Readonly<Record<Retry, string>> = {
  never: 'asking again gives the same answer',
  same_payment: 'present the same payment again; do not sign another',
  new_payment: 'another signature is invited; the only case in which a 402 carries PAYMENT-REQUIRED',
  later: 'present the same payment again later; somebody has to act first',
};

function list(entries: Readonly<Record<string, string>>): string {
  return Object.entries(entries)
    .map(([word, meaning]) => `- \`${word}\`: ${meaning}`)
    .join('\n');
}

function row(code: ProblemCode): string {
  const { title, status, money, retry, reason } = describe({ code });
  const shown = reason === undefined || reason === code ? '' : `\`${reason}\``;
  return `| \`${code}\` | ${status} | ${money} | ${retry} | ${title} | ${shown} |`;
}

function isCode(code: string): code is ProblemCode {
  return code in problems;
}

/** The page of problems, as Markdown. */
export function problemPage(): string {
  const rows = Object.keys(problems).filter(isCode).map(row);
  return `# Problems

<!-- Written by tools/reference.ts from lib/src/problem.ts. Change the table there, then: npm run reference -->

What a seller says when it does not answer with the goods: an RFC 9457 problem document with \`code\`, \`money\` and
\`retry\`. The rows stand in order of precedence; where two could be said, the earlier one is. An occurrence may know
better than its row, so a buyer reads the three members of the answer and not this table.

\`money\` is what the seller knows of the presented payment:

${list(moneySays)}

\`retry\` is what the buyer may do next:

${list(retrySays)}

| code | status | money | retry | meaning | x402 reason |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** Generated pages by path from the root. */
export const pages: Readonly<Record<string, () => string>> = { 'docs/reference/problems.md': problemPage };

/** Where a generated page lies on this machine. */
export function placeOf(page: string): string {
  return resolve(import.meta.dirname, '..', page);
}

function main(): void {
  for (const [page, make] of Object.entries(pages)) {
    mkdirSync(dirname(placeOf(page)), { recursive: true });
    writeFileSync(placeOf(page), make());
    console.log(page);
  }
}

if (process.argv[1] === import.meta.filename) main();
