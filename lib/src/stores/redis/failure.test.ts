import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError, type StoreErrorCode } from '../error.ts';
import { asOpeningError, asStoreError, isDemoted, isScriptGone } from './failure.ts';

/** As Redis 7 says it, and as 6.2 does, where an error inside a script begins with the script. */
const words: readonly (readonly [string, StoreErrorCode])[] = [
  ["READONLY You can't write against a read only replica.", 'store_read_only'],
  [
    "ERR Error running script (call to f_70a3): @user_script:81: @user_script: 81: -READONLY You can't write against a read only replica.",
    'store_read_only',
  ],
  ['MISCONF Errors writing to the AOF file: No space left on device', 'store_read_only'],
  ['NOREPLICAS Not enough good replicas to write.', 'store_read_only'],
  [
    "OOM command not allowed when used memory > 'maxmemory'. script: 70a3d1b6bb9ea4fc5a0a1d4a2d0d5b3b7a1c9f00, on @user_script:133.",
    'store_overloaded',
  ],
  [
    "ERR Error running script (call to f_70a3): @user_script:133: @user_script: 133: -OOM command not allowed when used memory > 'maxmemory'.",
    'store_overloaded',
  ],
  ['BUSY Redis is busy running a script.', 'store_busy'],
  ['LOADING Redis is loading the dataset in memory', 'store_busy'],
  ['MASTERDOWN Link with MASTER is down', 'store_busy'],
  ['CLUSTERDOWN Hash slot not served', 'store_busy'],
  ['TRYAGAIN Multiple keys request during rehashing of slot', 'store_busy'],
  ['NOAUTH Authentication required.', 'store_unreadable'],
  ['WRONGPASS invalid username-password pair or user is disabled.', 'store_unreadable'],
  ["NOPERM User shop has no permissions to run the 'evalsha' command", 'store_unreadable'],
  ['MOVED 3999 127.0.0.1:6381', 'store_unreadable'],
  ['ASK 3999 127.0.0.1:6381', 'store_unreadable'],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'store_corrupt'],
  [
    'ERR Error running script (call to f_70a3): @user_script:31: WRONGTYPE Operation against a key holding the wrong kind of value',
    'store_corrupt',
  ],
  ["Stream isn't writeable and enableOfflineQueue options is false", 'store_unreadable'],
  ['Reached the max retries per request limit (which is 0).', 'store_failed'],
  ['Connection is closed.', 'store_failed'],
  ['Command timed out', 'store_failed'],
  ['read ECONNRESET', 'store_failed'],
  ['ERR unknown command', 'store_failed'],
];

test('what the server, its client and the network say is told by a code of ours, whatever the version', () => {
  for (const [said, code] of words) {
    const error = asStoreError(new Error(said), 'on host:6379');
    assert.equal(error.code, code, said);
    assert.match(error.message, /^The claim store on host:6379 failed: /);
    assert.doesNotMatch(error.message, /[0-9a-f]{40}|enableOfflineQueue|max retries/);
  }
});

test('a text that is no record means damage, and an error of ours stays as it is', () => {
  assert.equal(asStoreError(new SyntaxError('Unexpected end of JSON input'), 'here').code, 'store_corrupt');
  const ours = new StoreError('store_busy', 'busy');
  assert.equal(asStoreError(ours, 'here'), ours);
  assert.equal(asOpeningError(ours, 'here'), ours);
});

test('before anything was asked, whatever fails means that the store cannot be opened', () => {
  assert.equal(asOpeningError(new Error('connect ECONNREFUSED'), 'here').code, 'store_unreadable');
  assert.equal(asOpeningError(new Error('LOADING wait'), 'here').code, 'store_busy');
});

test('a script that is gone, and a primary that became a replica, are told from other failures', () => {
  assert.equal(isScriptGone(new Error('NOSCRIPT No matching script.')), true);
  assert.equal(isScriptGone(new Error('ERR')), false);
  assert.equal(isDemoted(new Error('READONLY no')), true);
  assert.equal(isDemoted(new Error('ERR READONLY is a word here')), false);
});
