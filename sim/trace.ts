/** What happened in one run, for a reader: who did what at which virtual millisecond. Costs nothing while nobody reads. */

export type Trace = {
  /** The line is made only when somebody reads. */
  readonly say: (line: () => string) => void;
  readonly lines: () => readonly string[];
};

/** `nowMs` counts from the start of the run. */
export function createTrace(reads: boolean, nowMs: () => number): Trace {
  const lines: string[] = [];
  return {
    say: (line) => {
      if (reads) lines.push(`${momentOf(nowMs())}  ${line()}`);
    },
    lines: () => lines,
  };
}

/** Milliseconds, in columns: `   12 345 ms`. */
function momentOf(ms: number): string {
  return `${ms.toLocaleString('en').replaceAll(',', ' ').padStart(13)} ms`;
}
