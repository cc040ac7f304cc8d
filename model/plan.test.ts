import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { plan, quickPlan } from './plan.ts';

const config = await readFile(join(import.meta.dirname, 'config.pml'), 'utf8');
const laws = await readFile(join(import.meta.dirname, 'laws.pml'), 'utf8');
const failing = plan.filter((search) => search.expect === 'fails');

test('every law has a broken variant that fails for it', () => {
  const named = [...laws.matchAll(/^mtype = \{ (I1,.*) \};/gm)].flatMap(
    (match) => match[1]?.split(', ') ?? [],
  );
  assert.equal(named.length, 11);
  const broken = new Set(failing.map((search) => search.law));
  assert.deepEqual(
    named.filter((law) => !broken.has(law as never)),
    [],
  );
});

test('every broken variant of the model is run, and every one that is run exists', () => {
  const inModel = [...config.matchAll(/^#define (\w+) +\d+ +\/\*/gm)].map((match) => match[1]);
  const inPlan = new Set(failing.map((search) => search.defines.BROKEN).filter((name) => name !== undefined));
  const options = new Set([...config.matchAll(/^#ifndef (\w+)/gm)].map((match) => match[1]));
  const limits = new Set(['MAX_ATTEMPTS', 'MAX_SENDS']);
  const variants = inModel.filter((name) => name !== undefined && !options.has(name) && !limits.has(name));
  assert.deepEqual([...inPlan].sort(), variants.sort());
});

test('every option that a search sets is one the model knows', () => {
  for (const search of [...plan, ...quickPlan]) {
    for (const name of Object.keys(search.defines))
      assert.match(config, new RegExp(`^#ifndef ${name}$`, 'm'));
  }
});

test('each flow is searched with lies, with look-ups, with two payments and without any of them', () => {
  for (const flow of ['authorization', 'upfront', 'escrow']) {
    const good = plan.filter((search) => search.flow === flow && search.expect === 'holds');
    for (const [name, value] of [
      ['LIES', 1],
      ['LOOKUP', 1],
      ['GATE_LOOKUP', 1],
      ['KEYS', 2],
      ['REQUESTS', 2],
    ] as const) {
      assert.ok(
        good.some((search) => search.defines[name] === value),
        `${flow} without ${name}=${value}`,
      );
    }
    assert.ok(
      good.some((search) => search.defines.LOOKUP === undefined),
      `${flow} always looks up`,
    );
  }
});
