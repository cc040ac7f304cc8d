import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import {
  colorsOf,
  escapeLines,
  explain,
  type Io,
  MisuseError,
  type Output,
  wholeNumber,
  writeJson,
} from './io.ts';

function io(env: Record<string, string>, stdout: Output): Io {
  return { stdout, stderr: stdout, stdin: Readable.from([]), env, nowMs: () => 0 };
}

const painted = (env: Record<string, string>, stream: Output): boolean =>
  colorsOf(io(env, stream), stream).red('x') !== 'x';
const terminal: Output = { write: () => true, isTTY: true };
const file: Output = { write: () => true };

test('a terminal is painted, a file and a dumb terminal are not', () => {
  assert.equal(painted({}, terminal), true);
  assert.equal(painted({ CI: '1' }, file), false);
  assert.equal(painted({ TERM: 'dumb' }, terminal), false);
});

test('NO_COLOR is stronger than everything, FORCE_COLOR paints a file', () => {
  assert.equal(painted({ NO_COLOR: '1', FORCE_COLOR: '1' }, terminal), false);
  assert.equal(painted({ NO_COLOR: '' }, terminal), true);
  assert.equal(painted({ FORCE_COLOR: '1' }, file), true);
  assert.equal(painted({ FORCE_COLOR: '0' }, file), false);
});

test('amounts go into JSON as decimal texts', () => {
  let text = '';
  writeJson(io({}, { write: (part) => (text += part) }), { amount: 2n ** 200n, list: [1n] });
  assert.equal(text, `{"amount":"${2n ** 200n}","list":["1"]}\n`);
});

test('a number is whole and within its bounds, or the command was used wrongly', () => {
  const bounds = { least: 2, most: 500 };
  assert.equal(wholeNumber('--burst', '50', bounds), 50);
  for (const text of ['1', '501', '-3', '1e2', '5.0', '', ' 5', '99999999999'])
    assert.throws(() => wholeNumber('--burst', text, bounds), MisuseError, text);
});

test('an error is explained in one line', () => {
  assert.equal(explain(new Error('first\n  at second')), 'first');
  assert.equal(explain('text'), 'text');
});

test('P06: what a message repeats cannot move the cursor or hide, and an endless one is cut', () => {
  assert.equal(explain(new Error('no file \u001b[31mred\u202e')), 'no file \\u{1b}[31mred\\u{202e}');
  assert.equal(escapeLines('error: \u001b]0;owned\u0007\n(Did you mean x?)\n').split('\n').length, 3);
  assert.doesNotMatch(escapeLines('\u001b[2J\u009b1m'), /\p{Cc}/u);
  assert.ok(explain('x'.repeat(100_000)).length < 1_100);
});

test('H13: of an address that a person mistyped only scheme and host are repeated', () => {
  for (const text of ['84532=https://eth.example/v2/SECRETKEY', 'There is no file redis:/:SECRET@h/0.']) {
    assert.equal(explain(new Error(text)).includes('SECRET'), false, text);
    assert.equal(escapeLines(text).includes('SECRET'), false, text);
  }
});
