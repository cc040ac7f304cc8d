import assert from 'node:assert/strict';
import { test } from 'node:test';
import pc from 'picocolors';
import { beside, type Finding, inform, must, type Part } from './part.ts';
import { figuresOf, partText, seconds, sumText } from './report.ts';

const plain = pc.createColors(false);
const part: Part = {
  name: 'burst',
  title: 'Burst',
  promise: 'S1',
  claim: 'once',
  play: async () => good,
};
const good: Finding = {
  checks: [beside(must('runs', 1, 1), 50), inform('statuses', '\u001b[2J')],
  figures: { handlerRuns: 1 },
  official: { handlerRuns: 50 },
  notes: ['A note.'],
};
const bad: Finding = { checks: [must('runs', 2, 1)], figures: { handlerRuns: 2 } };
const rest = { parts: 1, bootMs: 5, totalMs: 9 };

test('a part is a table and a verdict with its promise', () => {
  assert.equal(
    partText({ part, finding: good, tookMs: 1_540 }, 2, plain),
    [
      '2. Burst (1.5 s)',
      '',
      '             counterfoil  @x402/express',
      '   runs      1            50',
      '   statuses  \\u{1b}[2J',
      '   A note.',
      '',
      '   HOLDS  S1: once',
      '',
      '',
    ].join('\n'),
  );
});

test('a promise that does not hold says so, at the figure and in the verdict', () => {
  const text = partText({ part, finding: bad, tookMs: 0 }, 1, plain);
  assert.match(text, /runs {2}2 {2}<- must be 1\n/);
  assert.match(text, /DOES NOT HOLD {2}S1: once/);
});

test('the sum names the parts that failed', () => {
  const played = { part, finding: good, tookMs: 1 };
  assert.match(sumText([played], plain), /^HOLDS {2}1 of 1 parts/);
  assert.match(
    sumText([played, { ...played, finding: bad }], plain),
    /^DOES NOT HOLD {2}1 of 2 parts: burst\.\n/,
  );
});

test('the figures hold only if every part was played and held', () => {
  const played = [{ part, finding: good, tookMs: 7 }];
  assert.deepEqual(figuresOf(played, rest), {
    holds: true,
    complete: true,
    burst: { handlerRuns: 1 },
    official: { burst: { handlerRuns: 50 } },
    verdicts: { burst: true },
    timings: { bootMs: 5, burstMs: 7, totalMs: 9 },
  });
  assert.equal(figuresOf([{ part, finding: bad, tookMs: 7 }], rest).holds, false);
  assert.equal(figuresOf(played, { ...rest, parts: 2 }).holds, false);
  const failure = { part: 'crash', why: 'no seller' };
  const failed = figuresOf(played, { ...rest, failure });
  assert.deepEqual([failed.holds, failed.complete, failed.failure], [false, false, failure]);
});

test('the parts of a group are members of one, and are called by both names', () => {
  const [one, two] = ['echoed', 'dither'].map((name) => ({ ...part, name, group: 'binding' }));
  assert.ok(one && two);
  const played = [
    { part, finding: good, tookMs: 1 },
    { part: one, finding: good, tookMs: 2 },
    { part: two, finding: bad, tookMs: 3 },
  ];
  const figures = figuresOf(played, { ...rest, parts: 3 });
  assert.deepEqual(figures.binding, { echoed: { handlerRuns: 1 }, dither: { handlerRuns: 2 } });
  assert.deepEqual(figures.official, {
    burst: { handlerRuns: 50 },
    binding: { echoed: { handlerRuns: 50 } },
  });
  assert.deepEqual(figures.verdicts, { burst: true, 'binding.echoed': true, 'binding.dither': false });
  assert.match(sumText(played, plain), /1 of 3 parts: binding\.dither\.\n/);
});

test("the official seller's substitution has a name of its own", () => {
  const elsewhere = { ...part, name: 'usedElsewhere' };
  const figures = figuresOf([{ part: elsewhere, finding: good, tookMs: 1 }], rest);
  assert.deepEqual(figures.official, { substitution: { handlerRuns: 50 } });
});

test('times are told in seconds', () => {
  assert.equal(seconds(15_249), '15.2 s');
});
