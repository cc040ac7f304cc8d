/** The advice for a machine, or undefined where all is well. */
export function advise(machine: {
  readonly version: string;
  readonly system: string;
  readonly installed: boolean;
}): string | undefined;
