/** What a reader must know of the machine to compare figures with others. */
import { availableParallelism, cpus, loadavg } from 'node:os';

export type Machine = {
  readonly node: string;
  readonly platform: string;
  readonly cpus: number;
  readonly model: string;
  /** Mean number of runnable tasks over the last minute: above `cpus`, others are at work too. */
  readonly loadBefore: number;
  readonly loadAfter: number;
};

/** Looks at the machine now, and once more when it is called. */
export function lookAtMachine(): () => Machine {
  const loadBefore = loadavg()[0] ?? 0;
  return () => ({
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    cpus: availableParallelism(),
    model: cpus()[0]?.model.trim() ?? 'unknown',
    loadBefore,
    loadAfter: loadavg()[0] ?? 0,
  });
}
