/** Moments and spans for people. */

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A span in its largest unit, whole: `3 min`; below a second in milliseconds. */
export function formatSpan(spanMs: number): string {
  const [name, sizeMs] = units.find(([, size]) => spanMs >= size) ?? ['ms', 1];
  return `${Math.floor(spanMs / sizeMs)} ${name}`;
}

/** Unix milliseconds as UTC with seconds; a moment that no calendar has is shown as its number. */
export function formatTime(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? `${atMs} ms` : `${date.toISOString().slice(0, 19)}Z`;
}
