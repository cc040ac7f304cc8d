/** What is asked of the stores, and how often. */

export type Scenario = {
  readonly name: string;
  /** One line for the reader of the table. */
  readonly title: string;
  readonly processes: 1 | 4;
  /** Calls that one process has under way at once. */
  readonly inFlight: number;
  /** Whose keys: each process has its own, all have the same ones, or there is one for all calls. */
  readonly keys: 'own' | 'same' | 'one';
  /** Whether a call is a whole paid request or one take. */
  readonly pays: boolean;
  /** Calls of one process in one turn. */
  readonly calls: number;
};

export type Size = 'full' | 'quick';

/** Rounds in which every contender has its turn, after one turn to warm up. */
export const rounds: Readonly<Record<Size, number>> = { full: 5, quick: 1 };
/** That everything works can be seen with so many calls. */
const quickCalls = 20;
const busy = 50;

const single = { processes: 1, keys: 'own', pays: false } as const;
const four = { ...single, processes: 4 } as const;

const all: readonly Scenario[] = [
  { ...single, name: 'alone', title: 'one process, one take after the other', inFlight: 1, calls: 2_000 },
  { ...single, name: 'busy', title: `one process, ${busy} takes in flight`, inFlight: busy, calls: 4_000 },
  {
    ...single,
    name: 'one-key',
    title: `one process, ${busy} takes of one key in flight`,
    inFlight: busy,
    keys: 'one',
    calls: 4_000,
  },
  {
    ...single,
    name: 'paid',
    title: `one process, ${busy} whole payments in flight`,
    inFlight: busy,
    pays: true,
    calls: 2_000,
  },
  { ...four, name: 'four-alone', title: 'four processes, one take after the other', inFlight: 1, calls: 500 },
  {
    ...four,
    name: 'four-busy',
    title: `four processes, ${busy} takes in flight each`,
    inFlight: busy,
    calls: 1_000,
  },
  {
    ...four,
    name: 'four-same-keys',
    title: 'four processes take the same keys, one after the other',
    inFlight: 1,
    keys: 'same',
    calls: 500,
  },
  {
    ...four,
    name: 'four-one-key',
    title: `four processes, ${busy} takes of one key in flight each`,
    inFlight: busy,
    keys: 'one',
    calls: 1_000,
  },
  {
    ...four,
    name: 'four-paid',
    title: `four processes, ${busy} whole payments in flight each`,
    inFlight: busy,
    pays: true,
    calls: 500,
  },
];

/** Every scenario in a size. */
export function scenariosOf(size: Size): readonly Scenario[] {
  return size === 'full' ? all : all.map((scenario) => ({ ...scenario, calls: quickCalls }));
}

/** Different keys of a turn: each of them must be won exactly once. */
export function keysOf({ keys, processes, calls }: Scenario): number {
  switch (keys) {
    case 'own':
      return processes * calls;
    case 'same':
      return calls;
    case 'one':
      return 1;
    default:
      return keys satisfies never;
  }
}

/** The words that one process makes its keys of, the same in every process for the same key. */
export function wordsOf(scenario: Scenario, turn: string, process: number): readonly string[] {
  const { keys, calls } = scenario;
  const word = (at: number): string => {
    switch (keys) {
      case 'own':
        return `${turn} ${process} ${at}`;
      case 'same':
        return `${turn} ${at}`;
      case 'one':
        return turn;
      default:
        return keys satisfies never;
    }
  };
  return Array.from({ length: calls }, (_, at) => word(at));
}
