import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Parts, pictureOf } from './picture.ts';

const running: Parts = {
  money: 'none',
  phase: 'pay',
  sends: 0,
  proven: false,
  work: 'running',
  attempts: 1,
  lease: 'valid',
  owned: true,
  kept: false,
  doubted: false,
  handed: false,
  superseded: false,
};

test('a picture names money, work, owner and what else is so', () => {
  assert.equal(pictureOf(running), 'none running/1 owner:valid');
  const paid: Parts = { ...running, money: 'settled', proven: true, work: 'done', kept: true, owned: false };
  assert.equal(pictureOf({ ...paid, handed: true, doubted: true }), 'settled! done/1 kept doubted delivered');
  assert.equal(pictureOf({ ...running, money: 'sending', sends: 5 }), 'sending#2 running/1 owner:valid');
});

test('work that nobody owns does not run, whatever its record says', () => {
  assert.equal(
    pictureOf({ ...running, owned: false }),
    pictureOf({ ...running, owned: false, work: 'failed' }),
  );
});

test('what can never be sent looks the same, whatever became of it before', () => {
  assert.equal(pictureOf(undefined), 'absent');
  assert.equal(pictureOf({ ...running, superseded: true }), 'superseded');
  assert.equal(pictureOf({ ...running, work: 'dead', kept: true }), 'dead');
});
