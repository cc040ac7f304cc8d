import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DevnetError, errorCode, explain } from './failure.ts';

describe('failures of the devnet', () => {
  test('a failure has a code for programs and one line for people', () => {
    const failure = new DevnetError('port_taken', 'Port 1 is taken.\n  at somewhere');
    assert.equal(failure.code, 'port_taken');
    assert.equal(explain(failure), 'Port 1 is taken.');
    assert.equal(explain('plain text'), 'plain text');
  });

  test('the code of a system error is found, and nothing else is taken for one', () => {
    assert.equal(errorCode(Object.assign(new Error('x'), { code: 'ENOENT' })), 'ENOENT');
    for (const other of [undefined, null, 'ENOENT', new Error('x'), { code: 7 }]) {
      assert.equal(errorCode(other), undefined);
    }
  });
});
