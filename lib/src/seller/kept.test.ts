import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeAnswer, encodeAnswer } from './kept.ts';

test('an answer comes back as it was kept, octet for octet', () => {
  const header = fc.tuple(fc.stringMatching(/^x-[a-z]{1,10}$/), fc.string());
  fc.assert(
    fc.property(
      fc.integer({ min: 200, max: 399 }),
      fc.array(header),
      fc.uint8Array({ maxLength: 2_000 }),
      (status, headers, body) => {
        const answer = decodeAnswer(encodeAnswer({ status, headers, body }));
        assert.deepEqual(answer, { status, headers: headers.map(([name, value]) => [name, value]), body });
      },
    ),
  );
});

test('octets that are no answer are not taken for one', () => {
  for (const bytes of [[], [0, 0, 0], [0, 0, 0, 9, 1], [0, 0, 0, 2, 123, 125], [255, 255, 255, 255]]) {
    assert.equal(decodeAnswer(Uint8Array.from(bytes)), undefined);
  }
  const whole = encodeAnswer({ status: 200, headers: [], body: new Uint8Array(3) });
  assert.equal(decodeAnswer(whole.subarray(0, 10)), undefined);
});
