/** A process that claims: it opens the tills that it is told to, and makes its part of the calls of a turn. */
import { createHash } from 'node:crypto';
import { readNumber, readObject, readText, readTexts } from '../process/read.ts';
import { serveParent } from '../process/serve.ts';
import { openBare } from './bare.ts';
import { type Part, runCalls } from './burst.ts';
import { contendersOf, type Place, storeNames, type Till } from './contender.ts';
import { openOurs } from './ours.ts';

const tills: Map<string, Till> = new Map();

function readPlace(input: unknown): Place {
  const place = readObject(input, 'place');
  const name = readText(place, 'name');
  const contender = storeNames.flatMap(contendersOf).find((one) => one.name === name);
  if (contender === undefined) throw new TypeError(`there is no contender ${name}`);
  return { contender, at: readText(place, 'at'), prefix: readText(place, 'prefix') };
}

async function open(input: unknown): Promise<void> {
  const place = readPlace(input);
  tills.set(place.contender.name, await (place.contender.kind === 'bare' ? openBare : openOurs)(place));
}

/** The keys of a list of words are known to every process before the clock starts. */
function run(input: unknown): Promise<Part> {
  const turn = readObject(input, 'turn');
  const name = readText(turn, 'name');
  const till = tills.get(name);
  if (till === undefined) throw new TypeError(`${name} is not open`);
  const keys = readTexts(turn, 'words').map((word) => createHash('sha256').update(word).digest('hex'));
  return runCalls(turn.pays === true ? till.pay : till.take, keys, readNumber(turn, 'inFlight'));
}

async function close(): Promise<void> {
  const open = [...tills.values()];
  tills.clear();
  await Promise.all(open.map((till) => till.close()));
}

serveParent({ open, run, close }, close);
