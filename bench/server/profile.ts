/** Takes a CPU profile of this process between two moments and says where its time went. */
import { writeFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';

/** A function and the share of the busy time that was spent in itself. */
export type Hot = { readonly name: string; readonly share: number };

export type Profile = {
  /** Ends the profile, writes it to `file` for a viewer, and gives the hottest functions. */
  readonly end: (file: string) => Promise<readonly Hot[]>;
};

/** Microseconds between two samples: fine enough for functions that take a few. */
const intervalMicros = 100;
/** More lines than this nobody reads. */
const hottest = 25;

/** Begins a profile. */
export async function beginProfile(): Promise<Profile> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: intervalMicros });
  await session.post('Profiler.start');
  return {
    end: async (file) => {
      const { profile } = await session.post('Profiler.stop');
      session.disconnect();
      writeFileSync(file, JSON.stringify(profile));
      return hotOf(profile);
    },
  };
}

/** Self time by function, hottest first; waiting for the network is not time. */
export function hotOf(profile: Pick<Profiler.Profile, 'nodes' | 'samples' | 'timeDeltas'>): readonly Hot[] {
  const names = new Map(profile.nodes.map((node) => [node.id, nameOf(node.callFrame)]));
  const micros = new Map<string, number>();
  let busy = 0;
  for (const [at, id] of (profile.samples ?? []).entries()) {
    const name = names.get(id) ?? '';
    if (name === '(idle)' || name === '(program)' || name === '(root)') continue;
    const delta = profile.timeDeltas?.[at] ?? 0;
    busy += delta;
    micros.set(name, (micros.get(name) ?? 0) + delta);
  }
  return [...micros]
    .sort(([, a], [, b]) => b - a)
    .slice(0, hottest)
    .map(([name, spent]) => ({ name, share: busy === 0 ? 0 : spent / busy }));
}

/** `name folder/file.ts:line`; the engine's own have no file. */
function nameOf({ functionName, url, lineNumber }: Profiler.Profile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const path = url.split('/').slice(-2).join('/');
  return `${name} ${path}:${lineNumber + 1}`;
}
