/** The start-up self-test (H05, design 9.19): every declared route is asked, unpaid, through the application's own door. */
import type { HeaderList } from './message.ts';

export type ProbeRequest = {
  readonly method: string;
  /** Origin form. */
  readonly target: string;
  /** Host included. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
};

export type ProbeAnswer = { readonly status: number; readonly headers: HeaderList };

/** Sends one request through an application as a client would; each adapter makes one with `probe(application)`. */
export type Probe = (request: ProbeRequest) => Promise<ProbeAnswer>;
