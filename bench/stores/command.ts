/** `stores`: measures the claim stores and says it as tables or as JSON. */
import type { Outside } from '../seller/command.ts';
import { lookAtMachine } from '../seller/machine.ts';
import type { StoreName } from './contender.ts';
import { measureStores } from './measure.ts';
import { faultsOf, sectionOf, sectionText } from './report.ts';

export type StoresOptions = {
  readonly stores: readonly StoreName[];
  readonly quick: boolean;
  readonly json: boolean;
};

/** What a reader must know to take the figures for what they are. */
const notes: readonly string[] = [
  'Bare is the database’s own insert-if-absent of 200 octets over the same client, as durable as ours.',
  'SQLite: write-ahead log, synchronous FULL. Redis: append-only file, synced always. PostgreSQL: every commit synced.',
  'A whole payment is take, keepAndBeginSend (1 KiB answer, 768 octets payload), recordMoney and deliver; bare makes one insert.',
  'Claiming processes and database servers share the cores, so four processes measure contention and not scale.',
  'Loop block is the longest time that the event loop of a claiming process stood still.',
  'That every key was won exactly once is counted in every turn of every contender.',
];

/** Runs the comparison; true when every key had exactly one winner. Rejects when it could not be measured. */
export async function runStores(options: StoresOptions, outside: Outside): Promise<boolean> {
  const { stores, quick, json } = options;
  const { out, err, signal } = outside;
  const machineNow = lookAtMachine();
  const say = (line: string): void => err(`${line}\n`);
  const measured = await measureStores({ stores, size: quick ? 'quick' : 'full', signal, say });
  const sections = measured.map(sectionOf);
  const faults = faultsOf(sections);
  const machine = machineNow();
  const holds = faults.length === 0;
  if (json) {
    const scenarios = Object.fromEntries(
      measured.map(({ scenario }, at) => [scenario.name, { ...scenario, rows: sections[at]?.rows ?? [] }]),
    );
    out(`${JSON.stringify({ benchmark: 'stores', quick, holds, machine, scenarios, faults, notes })}\n`);
    return holds;
  }
  const { node, cpus, model, loadBefore, loadAfter } = machine;
  out(
    `Node ${node}, ${cpus} x ${model}, load ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after\n\n`,
  );
  for (const section of sections) out(sectionText(section));
  for (const fault of faults) out(`WRONG ${fault}\n`);
  for (const note of notes) out(`- ${note}\n`);
  return holds;
}
