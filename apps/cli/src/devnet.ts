/** `counterfoil devnet`: the local chain as a program of its own; everything it does is counterfoil-devnet's. */
import { runDevnet } from 'counterfoil-devnet';
import type { Io } from './io.ts';

export type DevnetFlags = {
  /** Seconds. */
  readonly blockTime?: number;
  readonly state?: string;
  readonly port?: number;
  readonly facilitatorPort?: number;
  readonly accounts?: number;
  readonly stopWithStdin?: boolean;
  readonly json?: boolean;
};

/** Runs until a signal, the end of standard input if asked, or the end of the chain; resolves with the exit code. */
export function devnet(flags: DevnetFlags, io: Io): Promise<number> {
  return runDevnet(
    {
      blockTimeMs: flags.blockTime === undefined ? undefined : flags.blockTime * 1_000,
      stateFile: flags.state,
      port: flags.port,
      facilitatorPort: flags.facilitatorPort,
      accounts: flags.accounts,
      json: flags.json,
      stopWithStdin: flags.stopWithStdin,
    },
    { stdout: io.stdout, stderr: io.stderr, stdin: io.stdin },
  );
}
