/**
 * H04: no priced handler runs for a target that the gate lets pass. A hundred thousand bent targets are given to real
 * applications without a gate, and what ran there is compared with what the catalogue had said. `PATHS_SEED` repeats
 * a run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLuck } from '../../test/luck.ts';
import { type Catalogue, createCatalogue, type Found } from '../seller/catalogue.ts';
import { throughChain } from './rig/chains.ts';
import { expressReaders, honoReaders } from './rig/readers.ts';
import { type Declared, type Handler, handlers, options, priced } from './rig/street.ts';
import { type Bent, bend } from './rig/targets.ts';

const seed = Number(process.env.PATHS_SEED ?? 2_026);
const targets = 100_000;

const catalogue: Catalogue<Declared> = createCatalogue(priced, options);

/** What is wrong with an answer of the catalogue's, given the handler that ran. */
function faultOf(found: Found<Declared>, ran: Handler): string | undefined {
  const isRefused = found.kind === 'refused';
  const name = found.kind === 'route' ? found.route.name : found.kind;
  if (ran.kind === 'priced' && !isRefused && name !== ran.name) return `${name} for ${ran.name}`;
  if (ran.kind === 'unlisted' && found.kind === 'free') return `free for ${ran.name}`;
  return undefined;
}

/** What no server should have to make sense of. */
function isMalformed({ target }: Bent): boolean {
  try {
    decodeURIComponent(target.split('?')[0] ?? '');
  } catch {
    return true;
  }
  return /[^!-~]|#|%00/.test(target);
}

/** A gate as it would be written in a hurry. */
function isNaive({ method, target }: Bent): boolean {
  return !priced.some((route) => route.method === method && route.path === target.split('?')[0]);
}

type Tally = { priced: number; free: number; missed: number; malformed: number };

function judge(tally: Tally, bent: Bent, found: Found<Declared>, ran: Handler): string | undefined {
  if (ran.kind === 'priced') tally.priced += 1;
  if (ran.kind === 'free' && found.kind === 'free') tally.free += 1;
  if (ran.kind === 'priced' && isNaive(bent)) tally.missed += 1;
  if (ran.kind !== 'priced' || !isMalformed(bent)) return faultOf(found, ran);
  tally.malformed += 1;
  return found.kind === 'refused' ? undefined : `malformed, and ${found.kind} for ${ran.name}`;
}

test('H04: whatever servers make of a hundred thousand bent targets, no priced handler runs for a free one', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const luck = createLuck(seed);
  const tally: Tally = { priced: 0, free: 0, missed: 0, malformed: 0 };
  const faults: string[] = [];
  const note = (
    bent: Bent,
    found: Found<Declared>,
    parts: { readonly ran: Handler | undefined; readonly how: string },
  ): void => {
    const fault = parts.ran === undefined ? undefined : judge(tally, bent, found, parts.ran);
    if (fault !== undefined) faults.push(`${JSON.stringify(bent)} through ${parts.how}: ${fault}`);
  };
  for (let at = 0; at < targets; at += 1) {
    const bent = bend(luck);
    const found = catalogue.find(bent.method, bent.target);
    for (const reader of [luck.pick(expressReaders), luck.pick(honoReaders)]) {
      const { ran, seen } = await reader.ask(bent);
      for (const target of seen) {
        const said = target === bent.target ? found : catalogue.find(bent.method, target);
        note({ ...bent, target }, said, { ran, how: reader.name });
      }
    }
    for (let times = 0; times < 3; times += 1) note(bent, found, throughChain(luck, bent));
  }
  t.diagnostic(JSON.stringify(tally));
  assert.deepEqual(faults.slice(0, 5), [], `${faults.length} faults with seed ${seed}`);
  // The fuzz must have had something to find.
  assert.ok(tally.priced > 50_000 && tally.free > 10_000, JSON.stringify(tally));
  assert.ok(tally.missed > 10_000 && tally.malformed > 1_000, JSON.stringify(tally));
});

test('every handler of the fuzz runs for its own honest target', async () => {
  for (const handler of handlers) {
    const target = handler.path.replace(/[:*]\w+/g, 'probe');
    const method = handler.method === 'ALL' ? 'GET' : handler.method;
    for (const reader of [...expressReaders, ...honoReaders]) {
      const { ran } = await reader.ask({ method, target });
      assert.equal(ran?.name, handler.name, `${method} ${target} by ${reader.name}`);
    }
  }
});
