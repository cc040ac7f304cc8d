/** Whether a module is the program of this process, and not a part of another one. */
import { realpathSync } from 'node:fs';

/** True when Node was started with this file; `file` is the module's own name. */
export function isStarted(file: string): boolean {
  try {
    return realpathSync(process.argv[1] ?? '') === realpathSync(file);
  } catch {
    return false;
  }
}
