/** Tables for a terminal. The cells may carry colours; what strangers wrote must have been escaped before. */
import CliTable from 'cli-table3';

/** A table: column heads and rows of equal length. A column in `right` is aligned to its end. */
export type TableParts = {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly right?: readonly number[];
  /** Written before each line. */
  readonly indent?: string;
};

/** One rule below the head and blanks between columns: it survives being pasted into a message. */
const lines = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
} as const;

/** The table as lines, the last one ended. Without a head there is no rule. */
export function renderTable(parts: TableParts): string {
  const { head, rows, right = [], indent = '' } = parts;
  const titled = head.some((title) => title !== '');
  const table = new CliTable({
    ...(titled ? { head: [...head] } : {}),
    chars: lines,
    colAligns: head.map((_, column) => (right.includes(column) ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => [...row]));
  const text = table.toString().split('\n');
  return text
    .map((line) => `${indent}${line}`.trimEnd())
    .join('\n')
    .concat('\n');
}
