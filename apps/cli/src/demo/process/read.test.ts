import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject, readCount, readHex, readList, readObject, readText } from './read.ts';

test('what another process says is taken as what it is, or not at all', () => {
  const said = { text: 'a', count: 3, hex: '0xAb', list: [1, 2] };
  assert.equal(readText(said, 'text'), 'a');
  assert.equal(readCount(said, 'count'), 3);
  assert.equal(readHex(said, 'hex'), '0xAb');
  assert.deepEqual(
    readList(said, 'list', (entry) => Number(entry) + 1),
    [2, 3],
  );
  assert.equal(readObject(said, 'said'), said);
  assert.deepEqual([isObject({}), isObject([]), isObject(null), isObject('{}')], [true, false, false, false]);
});

test('a member that is missing or of another kind is named', () => {
  const said = { text: 1, count: -1, hex: '0xg', list: {} };
  assert.throws(() => readText(said, 'text'), /text is not a text/);
  assert.throws(() => readText(said, 'absent'), /absent/);
  assert.throws(() => readCount(said, 'count'), /count is not a count/);
  assert.throws(() => readCount({ count: 1.5 }, 'count'), TypeError);
  assert.throws(() => readHex(said, 'hex'), /hex is not hex/);
  assert.throws(() => readList(said, 'list', String), /list is not a list/);
  assert.throws(() => readObject([], 'said'), /said is not an object/);
});
