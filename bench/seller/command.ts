/** `seller`: measures, judges, and says it as tables or as JSON. */
import { mkdirSync } from 'node:fs';
import { judgeGoals } from './goal.ts';
import { lookAtMachine } from './machine.ts';
import { measure } from './measure.ts';
import { sectionOf } from './report.ts';
import type { Scenario } from './scenario.ts';
import { goalsText, sectionText } from './table.ts';

export type SellerOptions = {
  readonly scenarios: readonly Scenario[];
  readonly quick: boolean;
  readonly json: boolean;
  readonly profileFolder?: string;
};

export type Outside = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Aborts when a person has had enough. */
  readonly signal: AbortSignal;
};

/** What a reader must know to take the figures for what they are. */
const notes: readonly string[] = [
  'CPU is process.cpuUsage() of the server’s own process, all threads; load and facilitator are other processes.',
  'Ours checks every signature; the official adapters leave that to the facilitator. That is to our disadvantage.',
  'The facilitator is a stand-in that says yes without looking: a load peer, no proof of money.',
  'Payments are signed before the timed part, for the server’s own terms, and each is used once.',
  'A bare server answers 200 to the same requests, payment headers included. In the burst it answers at once.',
  'The terms of the 1,000 routes are asked in turn; every framework serves them with one handler.',
];

/** Runs the comparison; true when every goal is met. Rejects when it could not be measured. */
export async function runSeller(options: SellerOptions, outside: Outside): Promise<boolean> {
  const { scenarios, quick, json, profileFolder } = options;
  const { out, err, signal } = outside;
  const machineNow = lookAtMachine();
  if (profileFolder !== undefined) mkdirSync(profileFolder, { recursive: true });
  const measured = await measure({
    scenarios,
    size: quick ? 'quick' : 'full',
    ...(profileFolder === undefined ? {} : { profileFolder }),
    signal,
    say: (line) => err(`${line}\n`),
  });
  const goals = judgeGoals(measured);
  const sections = measured.map(sectionOf);
  const machine = machineNow();
  const holds = goals.every(({ met }) => met);
  if (json) {
    const sizes = Object.fromEntries(scenarios.map((one) => [one.name, quick ? one.quick : one.full]));
    const named = Object.fromEntries(sections.map(({ name, title, rows }) => [name, { title, rows }]));
    const figures = { benchmark: 'seller', quick, holds, machine, sizes, scenarios: named, goals, notes };
    out(`${JSON.stringify(figures)}\n`);
    return holds;
  }
  const { node, cpus, model, loadBefore, loadAfter } = machine;
  const load = `load ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after`;
  out(`Node ${node}, ${cpus} x ${model}, ${load}\n\n`);
  for (const section of sections) out(sectionText(section));
  out(goalsText(goals));
  for (const note of notes) out(`- ${note}\n`);
  return holds;
}
