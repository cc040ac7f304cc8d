import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { asOpeningError, asStoreError, isAnswer, isOvertaken } from './failure.ts';

/** As the driver makes it of what the server says. */
function said(code: string, message = 'no'): Error {
  return Object.assign(new Error(message), {
    code,
    severity: 'ERROR',
    detail: 'Failing row contains (0x11, ...)',
  });
}

const codes: { readonly [state: string]: StoreErrorCode } = {
  '40P01': 'store_busy',
  '55P03': 'store_busy',
  57014: 'store_busy',
  53300: 'store_overloaded',
  53100: 'store_failed',
  25006: 'store_read_only',
  42501: 'store_unreadable',
  '28P01': 'store_unreadable',
  '3D000': 'store_unreadable',
  '57P01': 'store_failed',
  XX001: 'store_corrupt',
  XX000: 'store_failed',
};

test('what the server says becomes a code of ours, and the server is named without its password', () => {
  for (const [state, code] of Object.entries(codes)) {
    const error = asStoreError(said(state, 'because'), 'at host:1/db');
    assert.equal(error.code, code, state);
    assert.equal(error.message, 'The claim store at host:1/db failed: because');
  }
});

test('the cause says what the server said and holds neither a row nor a connection', () => {
  const cause = Object.assign(said('53100', 'disk full'), { client: { password: 'hunter2' } });
  const error = asStoreError(cause, 'at host');
  assert.ok(error.cause instanceof Error);
  assert.equal(error.cause.message, 'disk full (SQLSTATE 53100)');
  assert.deepEqual(Object.keys(error.cause), []);
});

test('an error of the network is no answer of the server, and several of them are told together', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  assert.equal(asStoreError(refused, 'at host').code, 'store_failed');
  assert.match(asStoreError(new AggregateError([refused, refused]), 'at host').message, /REFUSED; connect/);
  assert.equal(isAnswer(refused), false);
  assert.equal(asStoreError('odd', 'at host').message, 'The claim store at host failed: odd');
});

test('where nothing was asked yet, whatever fails means that the store cannot be opened', () => {
  assert.equal(asOpeningError(new Error('connect ECONNREFUSED'), 'at host').code, 'store_unreadable');
  assert.equal(asOpeningError(said('53300'), 'at host').code, 'store_overloaded');
  const own = new StoreError('store_newer', 'newer');
  assert.equal(asOpeningError(own, 'at host'), own);
});

test('only what the server rolled back for another step may be asked again', () => {
  assert.deepEqual(
    ['40001', '40P01', '57P01', '53100', '55P03'].map((state) => isOvertaken(said(state))),
    [true, true, false, false, false],
  );
});

test('a server that goes away, or became a standby, has not answered, so its connection is not used again', () => {
  assert.deepEqual(
    ['53100', '57014', '57P01', '08006', '25006'].map((state) => isAnswer(said(state))),
    [true, true, false, false, false],
  );
});

test('a record that does not parse is damage', () => {
  assert.equal(asStoreError(new SyntaxError('x'), 'at host').code, 'store_corrupt');
});
