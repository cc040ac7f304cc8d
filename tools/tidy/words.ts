/** Words that a reader of this project should never meet: unfinished work, and paths of one machine. */
import { type Finding, lineAt, type Text } from './source.ts';

type Ban = { readonly pattern: RegExp; readonly why: string };

const bans: readonly Ban[] = [
  { pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/g, why: 'finish it or file it' },
  { pattern: /(?:\/root\/|\/home\/[a-z])/g, why: 'is a path of one machine' },
  { pattern: /\bregistry\.[a-z]+\.[a-z]+/gi, why: 'names a package host' },
  { pattern: /\b(?:SPDX-FileCopyrightText|All rights reserved)\b/g, why: 'LICENSE says it once' },
];
/** The rule and its test must be able to name the words; the lock file names packages of others. */
const exempt = /^(?:tools\/tidy\/words(?:\.test)?\.ts|package-lock\.json|LICENSE)$/;

/** Banned words in any text of the tree. */
export function banned(file: Text): Finding[] {
  if (exempt.test(file.path)) return [];
  return bans.flatMap(({ pattern, why }) =>
    [...file.text.matchAll(pattern)].map((match) => ({
      rule: 'words',
      path: file.path,
      line: lineAt(file, match.index),
      message: `"${match[0]}" ${why}`,
    })),
  );
}
