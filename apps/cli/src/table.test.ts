import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import pc from 'picocolors';
import { renderTable } from './table.ts';

test('columns are aligned, numbers to their end, and no line ends in blanks', () => {
  const text = renderTable({
    head: ['key', 'amount'],
    rows: [
      ['a', '1.00'],
      ['long', '12.00'],
    ],
    right: [1],
  });
  assert.equal(text, 'key   amount\na       1.00\nlong   12.00\n');
});

test('a table without a head has no line for one, and can be indented', () => {
  assert.equal(renderTable({ head: ['', ''], rows: [['a', 'b']], indent: '  ' }), '  a  b\n');
});

test('colours do not disturb the columns', () => {
  const { red } = pc.createColors(true);
  const text = renderTable({
    head: ['', ''],
    rows: [
      [red('a'), '1'],
      ['bbb', '2'],
    ],
  });
  assert.equal(stripVTControlCharacters(text), 'a    1\nbbb  2\n');
});
