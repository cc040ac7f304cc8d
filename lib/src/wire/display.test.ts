/** Strangers' texts on a terminal. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { displayText } from './display.ts';

test('P06: what moves the cursor, reorders or hides is escaped', () => {
  assert.equal(displayText('a\u001b[31m\r\n\t'), 'a\\u{1b}[31m\\u{d}\\u{a}\\u{9}');
  assert.equal(
    displayText('\u202egpj.exe\u200b\u2066\ufeff\u00ad'),
    '\\u{202e}gpj.exe\\u{200b}\\u{2066}\\u{feff}\\u{ad}',
  );
  assert.equal(displayText('\u00a0\u2003\u2028\ud800'), '\\u{a0}\\u{2003}\\u{2028}\\u{d800}');
  assert.equal(displayText('Café — ☕ 日本語 \u{1f600} 5 €'), 'Café — ☕ 日本語 \u{1f600} 5 €');
});

test('a long text is cut and its length is said', () => {
  assert.equal(displayText('x'.repeat(500), 10), `${'x'.repeat(10)}… (500 characters)`);
  assert.ok(displayText('\u202e'.repeat(10_000)).length < 2000);
});
