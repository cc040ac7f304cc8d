/** File names (style 2): one lower-case word inside a telling folder, and none of the names that mean nothing. */
import type { Finding, Text } from './source.ts';

const meaningless: ReadonlySet<string> = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'type',
  'types',
  'misc',
  'shared',
  'lib',
  'stuff',
]);
/** `charge.ts`, `charge.test.ts`, and `charge.crash.test.ts` where one file of tests would be too long. */
const shape = /^([a-z][a-z0-9]*)(?:(?:\.[a-z][a-z0-9]*)?\.test)?(?:\.d)?\.m?ts$/;

/** TypeScript files with a name of another shape. */
export function names(file: Text): Finding[] {
  const name = file.path.split('/').at(-1) ?? '';
  if (!/\.m?ts$/.test(name)) return [];
  const word = shape.exec(name)?.[1];
  const say = (message: string): Finding[] => [{ rule: 'names', path: file.path, line: 1, message }];
  if (word === undefined) return say('a file name is one lower-case word');
  return meaningless.has(word) ? say(`${word} says nothing; name what it does`) : [];
}
