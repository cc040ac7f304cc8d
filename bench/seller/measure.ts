/**
 * Runs the comparison: one process a server, one that makes the load, one facilitator. In each round every server has
 * its turn, A B C A B C, and what a server's process spent in its turn is what counts.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readNumber, readObject, readText } from '../process/read.ts';
import { type Child, startChild } from '../process/spawn.ts';
import { freePath, type Goods } from '../server/goods.ts';
import type { Hot } from '../server/profile.ts';
import type { Order, Variant } from '../server/shop.ts';
import {
  type BurstSample,
  burstSample,
  type Cost,
  checkStatuses,
  expectedStatuses,
  readCost,
  type Statuses,
  type SteadySample,
  steadySample,
} from './sample.ts';
import { burstCopies, type Scenario, type Sizes } from './scenario.ts';
import { variants } from './variant.ts';

export type Plan = {
  readonly scenarios: readonly Scenario[];
  readonly size: 'full' | 'quick';
  /** Where profiles of our servers go; the figures of such a run are not for comparing. */
  readonly profileFolder?: string;
  /** Stops everything; the measurement then rejects. */
  readonly signal: AbortSignal;
  /** Told one line now and then. */
  readonly say: (line: string) => void;
};

/** All turns of one server in one scenario. */
export type Turns<Sample> = {
  readonly variant: Variant;
  readonly samples: readonly Sample[];
  /** One read of its claim store; 0 where there is none. */
  readonly storeRoundTripMs: number;
  readonly hot?: readonly Hot[];
};

export type Measured =
  | { readonly kind: 'steady'; readonly scenario: Scenario; readonly turns: readonly Turns<SteadySample>[] }
  | { readonly kind: 'burst'; readonly scenario: Scenario; readonly turns: readonly Turns<BurstSample>[] };

/** The processes of a run. */
type Crew = {
  readonly load: Child;
  readonly facilitatorUrl: string;
  readonly servers: ReadonlyMap<string, Child>;
  readonly folder: string;
};

/** A server with its shop open. */
type Stand = { readonly variant: Variant; readonly server: Child; readonly port: number };

/** Measures every scenario of the plan; rejects when one cannot be. No process is left behind. */
export async function measure(plan: Plan): Promise<readonly Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-bench-'));
  const children: Child[] = [];
  const stopAll = (): Promise<unknown> => Promise.all(children.map((child) => child.stop()));
  plan.signal.addEventListener('abort', stopAll, { once: true });
  try {
    plan.signal.throwIfAborted();
    const crew = await assemble(plan, folder, children);
    const measured: Measured[] = [];
    for (const scenario of plan.scenarios) measured.push(await measureScenario(plan, crew, scenario));
    return measured;
  } finally {
    plan.signal.removeEventListener('abort', stopAll);
    await stopAll();
    await rm(folder, { recursive: true, force: true });
  }
}

async function assemble(plan: Plan, folder: string, children: Child[]): Promise<Crew> {
  const start = (name: string, program: string): Child => {
    const child = startChild(name, join(import.meta.dirname, '..', program, 'program.ts'));
    children.push(child);
    return child;
  };
  const load = start('load', 'load');
  const facilitator = start('facilitator', 'facilitator');
  const taking = variants.filter((variant) => plan.scenarios.some(({ takesPart }) => takesPart(variant)));
  const servers = new Map(taking.map(({ name }) => [name, start(name, 'server')]));
  return { load, facilitatorUrl: `http://127.0.0.1:${await portOf(facilitator)}`, servers, folder };
}

async function portOf(child: Child, order?: Order): Promise<number> {
  return readNumber(readObject(await child.ask('open', order), 'answer'), 'port');
}

async function measureScenario(plan: Plan, crew: Crew, scenario: Scenario): Promise<Measured> {
  // A thousand routes take their time to declare, and nothing is timed yet.
  const stands = await Promise.all(
    variants.filter(scenario.takesPart).map((variant) => openStand(crew, scenario, variant)),
  );
  const field: Field = { plan, crew, scenario, stands, sizes: scenario[plan.size] };
  for (const stand of stands) {
    plan.say(`${scenario.name}: warming up ${stand.variant.name}`);
    await warmUp(field, stand);
  }
  const measured: Measured =
    scenario.name === 'burst'
      ? { kind: 'burst', scenario, turns: await playRounds(field, burstTurn) }
      : { kind: 'steady', scenario, turns: await playRounds(field, steadyTurn) };
  for (const { server } of stands) await server.ask('close');
  return measured;
}

async function openStand(crew: Crew, scenario: Scenario, variant: Variant): Promise<Stand> {
  const server = crew.servers.get(variant.name);
  if (server === undefined) throw new TypeError(`No server is called ${variant.name}.`);
  return { variant, server, port: await portOf(server, orderOf(crew, scenario, variant)) };
}

type Field = {
  readonly plan: Plan;
  readonly crew: Crew;
  readonly scenario: Scenario;
  readonly stands: readonly Stand[];
  readonly sizes: Sizes;
};

/** Nobody loses at a bare server, so its burst is answered at once: that is what the losers of a gate must keep up with. */
function goodsFor({ goods }: Scenario, { maker }: Variant): Goods {
  return maker === 'bare' ? { ...goods, workMs: 0 } : goods;
}

function orderOf(crew: Crew, scenario: Scenario, variant: Variant): Order {
  const { facilitatorUrl, folder } = crew;
  const goods = goodsFor(scenario, variant);
  return scenario.facilitator === 'http'
    ? { variant, goods, folder, facilitatorUrl }
    : { variant, goods, folder };
}

/** Has payments signed, or plain requests made, for one server; a bare one gets payments for another's terms. */
async function prepare({ crew, scenario, stands }: Field, stand: Stand, count: number): Promise<void> {
  const asking =
    stand.variant.maker === 'bare' ? stands.find(({ variant }) => variant.maker === 'ours') : stand;
  await crew.load.ask('prepare', {
    port: stand.port,
    paths: scenario.goods.paths,
    count,
    ...(scenario.paid ? { termsPort: asking?.port } : {}),
  });
}

async function warmUp(field: Field, stand: Stand): Promise<void> {
  const { crew, scenario, sizes } = field;
  if (sizes.warmUp === 0) return;
  const patient = scenario.name === 'burst' && stand.variant.maker !== 'bare';
  await prepare(field, stand, patient ? 1 : sizes.warmUp);
  await (patient ? crew.load.ask('flood', { count: burstCopies, freePath }) : crew.load.ask('steady'));
}

/** Every server's turn in every round; with a profile of ours, if one is wanted. */
async function playRounds<Sample>(
  field: Field,
  turn: (field: Field, stand: Stand) => Promise<Sample>,
): Promise<readonly Turns<Sample>[]> {
  const { plan, scenario, stands, sizes } = field;
  const samples = new Map<Stand, Sample[]>(stands.map((stand) => [stand, []]));
  const profiled =
    plan.profileFolder === undefined ? [] : stands.filter(({ variant }) => variant.maker === 'ours');
  for (const { server } of profiled) await server.ask('beginProfile');
  for (let round = 1; round <= sizes.rounds; round += 1) {
    plan.say(`${scenario.name}: round ${round} of ${sizes.rounds}`);
    for (const stand of stands) samples.get(stand)?.push(await turn(field, stand));
  }
  const turns: Turns<Sample>[] = [];
  for (const stand of stands) {
    const { variant, server } = stand;
    const profile = profiled.includes(stand) ? { hot: await endProfile(field, stand) } : {};
    const read = readObject(await server.ask('storeRoundTrip'), 'store round trip');
    turns.push({
      variant,
      samples: samples.get(stand) ?? [],
      storeRoundTripMs: readNumber(read, 'tookMs'),
      ...profile,
    });
  }
  return turns;
}

async function steadyTurn(field: Field, stand: Stand): Promise<SteadySample> {
  const { crew, scenario, sizes } = field;
  await prepare(field, stand, sizes.requests);
  const { said, spent } = await charged(stand, () => crew.load.ask('steady'));
  const sample = steadySample(said, spent, sizes.requests);
  check({ scenario, stand, requests: sizes.requests }, sample.statuses);
  return sample;
}

async function burstTurn(field: Field, stand: Stand): Promise<BurstSample> {
  const { crew, scenario } = field;
  await prepare(field, stand, 1);
  const { said, spent } = await charged(stand, () =>
    crew.load.ask('burst', { count: burstCopies, freePath }),
  );
  const sample = burstSample(said, spent);
  check({ scenario, stand, requests: burstCopies }, sample.statuses);
  return sample;
}

function check(
  turn: { readonly scenario: Scenario; readonly stand: Stand; readonly requests: number },
  statuses: Statuses,
): void {
  const { scenario, stand, requests } = turn;
  const { variant } = stand;
  checkStatuses(
    `${scenario.name}: ${variant.name}`,
    statuses,
    expectedStatuses(scenario, variant.maker, requests),
  );
}

/** What the server's process spent while `work` went on. */
async function charged(
  { server }: Stand,
  work: () => Promise<unknown>,
): Promise<{ readonly said: unknown; readonly spent: Cost }> {
  const before = readCost(await server.ask('cost'));
  const said = await work();
  const after = readCost(await server.ask('cost'));
  return {
    said,
    spent: { cpuMicros: after.cpuMicros - before.cpuMicros, runs: after.runs - before.runs },
  };
}

async function endProfile({ plan, scenario }: Field, { variant, server }: Stand): Promise<readonly Hot[]> {
  const file = join(plan.profileFolder ?? '.', `${scenario.name}-${variant.name}.cpuprofile`);
  const answer = readObject(await server.ask('endProfile', { file }), 'profile');
  const hot: unknown = answer.hot;
  if (!Array.isArray(hot)) return [];
  return hot.map((entry: unknown) => {
    const line = readObject(entry, 'line of a profile');
    return { name: readText(line, 'name'), share: readNumber(line, 'share') };
  });
}
