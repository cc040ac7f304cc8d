/** What the starters of both servers ask of their caller and of the machine. */
import { locate, missing } from '../setup.ts';
import { DaemonError } from './daemon.ts';

/** A key that is not known is a programmer's mistake: a TypeError. */
export function refuseUnknown(options: object, known: readonly string[]): void {
  for (const key of Object.keys(options))
    if (!known.includes(key)) throw new TypeError(`${key} is not an option; there are ${known.join(', ')}`);
}

/** The path of a server's program, or a `DaemonError` with the line to run. */
export function requireProgram(
  command: string,
  find: (command: string) => string | undefined = locate,
): string {
  const path = find(command);
  if (path === undefined) throw new DaemonError(missing(command));
  return path;
}
