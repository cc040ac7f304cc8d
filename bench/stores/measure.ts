/**
 * Runs the comparison: four processes that claim, and the servers that a database needs. In each round every contender
 * has its turn, A B C A B C, with keys of its own turn; whether each key was won exactly once is counted, never timed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, startPostgres } from '../../tools/servers/postgres.ts';
import { type Redis, startRedis } from '../../tools/servers/redis.ts';
import { type Child, startChild } from '../process/spawn.ts';
import { type Contender, contendersOf, isShared, type Place, type StoreName } from './contender.ts';
import { readPart, type Sample, sampleOf } from './sample.ts';
import { rounds, type Scenario, type Size, scenariosOf, wordsOf } from './scenario.ts';

export type Plan = {
  readonly stores: readonly StoreName[];
  readonly size: Size;
  /** Stops everything; the measurement then rejects. */
  readonly signal: AbortSignal;
  /** Told one line now and then. */
  readonly say: (line: string) => void;
};

/** All turns of one contender in one scenario. */
export type Turns = { readonly contender: Contender; readonly samples: readonly Sample[] };
export type Measured = { readonly scenario: Scenario; readonly turns: readonly Turns[] };

const mostProcesses = 4;

type Crew = {
  readonly claimants: readonly Child[];
  readonly folder: string;
  readonly redis?: Redis;
  readonly postgres?: Postgres;
};

/** Measures every scenario for the stores of the plan; rejects when one cannot be. No process is left behind. */
export async function measureStores(plan: Plan): Promise<readonly Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-bench-'));
  const program = join(import.meta.dirname, 'program.ts');
  const claimants = Array.from({ length: mostProcesses }, (_, at) => startChild(`claimant ${at}`, program));
  const stopAll = (): Promise<unknown> => Promise.all(claimants.map((child) => child.stop()));
  plan.signal.addEventListener('abort', stopAll, { once: true });
  const servers: { redis?: Redis; postgres?: Postgres } = {};
  try {
    plan.signal.throwIfAborted();
    if (plan.stores.includes('redis')) servers.redis = await startRedis();
    if (plan.stores.includes('postgres')) servers.postgres = await startPostgres();
    const measured: Measured[] = [];
    for (const scenario of scenariosOf(plan.size)) {
      measured.push(await measureScenario(plan, { claimants, folder, ...servers }, scenario));
    }
    return measured;
  } finally {
    plan.signal.removeEventListener('abort', stopAll);
    await stopAll();
    await servers.redis?.stop();
    await servers.postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureScenario(plan: Plan, crew: Crew, scenario: Scenario): Promise<Measured> {
  const claimants = crew.claimants.slice(0, scenario.processes);
  const stores = plan.stores.filter((store) => scenario.processes === 1 || isShared(store));
  const contenders = stores.flatMap(contendersOf);
  for (const contender of contenders) {
    const { at, prefix } = await placeOf(crew, scenario, contender);
    // One after the other, since the first one makes the tables.
    for (const claimant of claimants) await claimant.ask('open', { name: contender.name, at, prefix });
  }
  const samples = new Map<Contender, Sample[]>(contenders.map((contender) => [contender, []]));
  plan.say(`${scenario.name}: warming up`);
  for (const contender of contenders) await playTurn({ claimants, scenario }, contender, 'warm');
  for (let round = 1; round <= rounds[plan.size]; round += 1) {
    plan.say(`${scenario.name}: round ${round} of ${rounds[plan.size]}`);
    for (const contender of contenders) {
      samples.get(contender)?.push(await playTurn({ claimants, scenario }, contender, `round ${round}`));
    }
  }
  for (const claimant of claimants) await claimant.ask('close');
  return {
    scenario,
    turns: contenders.map((contender) => ({ contender, samples: samples.get(contender) ?? [] })),
  };
}

/** A place that nobody has used: a file, a prefix, a database. */
async function placeOf(crew: Crew, scenario: Scenario, contender: Contender): Promise<Place> {
  const name = `${scenario.name}-${contender.name}`;
  const at = async (): Promise<string> => {
    switch (contender.store) {
      case 'memory':
        return '';
      case 'sqlite':
        return join(crew.folder, `${name}.sqlite`);
      case 'redis':
        return crew.redis?.url ?? '';
      case 'postgres':
        return (await crew.postgres?.createDatabase()) ?? '';
      default:
        return contender.store satisfies never;
    }
  };
  return { contender, at: await at(), prefix: `${name}:` };
}

type Field = { readonly claimants: readonly Child[]; readonly scenario: Scenario };

async function playTurn(field: Field, contender: Contender, turn: string): Promise<Sample> {
  const { claimants, scenario } = field;
  const { inFlight, pays } = scenario;
  const parts = await Promise.all(
    claimants.map((claimant, process) =>
      claimant.ask('run', { name: contender.name, words: wordsOf(scenario, turn, process), inFlight, pays }),
    ),
  );
  return sampleOf(scenario, turn, parts.map(readPart));
}
