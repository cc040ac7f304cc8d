/** Plays many seeds on several threads: each takes the next few seeds as soon as it has played its last. */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { loadRelation } from '../model/transitions.ts';
import { play } from './play.ts';
import { add, nothing, type Sum, sumOf } from './sum.ts';

export type Work = { readonly from: number; readonly seeds: number; readonly workers: number };

/** Seeds that a thread takes at once: a second of work, so that progress is seen and the end is not awaited. */
const batchSeeds = 25;

/** A thread is given this to begin with; without it the file is imported like any other. */
const role = 'plays seeds';

/** Plays all of them; `onProgress` hears how many are done and how many of those failed. */
export async function playAll(work: Work, onProgress: (sum: Sum) => void = () => {}): Promise<Sum> {
  if (work.workers <= 1) return playHere(work, onProgress);
  let next = work.from;
  let sum = nothing;
  const end = work.from + work.seeds;
  const take = (): readonly [from: number, seeds: number] | undefined => {
    if (next >= end) return undefined;
    const from = next;
    next = Math.min(end, next + batchSeeds);
    return [from, next - from];
  };
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(import.meta.filename, { workerData: role, argv: [role] });
      const give = (): void => {
        const batch = take();
        if (batch !== undefined) worker.postMessage(batch);
        else void worker.terminate().then(() => resolve());
      };
      worker.on('message', (part: Sum) => {
        sum = add(sum, part);
        onProgress(sum);
        give();
      });
      worker.on('error', reject);
      give();
    });
  await Promise.all(Array.from({ length: work.workers }, run));
  return sum;
}

async function playHere({ from, seeds }: Work, onProgress: (sum: Sum) => void): Promise<Sum> {
  const relation = await loadRelation();
  let sum = nothing;
  for (let seed = from; seed < from + seeds; seed += 1) {
    sum = add(sum, sumOf(await play({ seed, relation })));
    onProgress(sum);
  }
  return sum;
}

if (!isMainThread && process.argv.includes(role)) {
  const relation = await loadRelation();
  const playBatch = async (from: number, seeds: number): Promise<Sum> => {
    let sum = nothing;
    for (let seed = from; seed < from + seeds; seed += 1)
      sum = add(sum, sumOf(await play({ seed, relation })));
    return sum;
  };
  parentPort?.on('message', async ([from, seeds]: readonly [number, number]) => {
    parentPort?.postMessage(await playBatch(from, seeds));
  });
}
