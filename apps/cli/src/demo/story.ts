/** The parts of the demonstration, in order. The crash ends our seller, and the chain has the last word. */

import { burst } from './part/burst.ts';
import { chain } from './part/chain.ts';
import { crash } from './part/crash.ts';
import { dither } from './part/dither.ts';
import { echoed } from './part/echoed.ts';
import { elsewhere } from './part/elsewhere.ts';
import { first } from './part/first.ts';
import { lost } from './part/lost.ts';
import { redelivery } from './part/redelivery.ts';
import { replay } from './part/replay.ts';
import { required } from './part/required.ts';
import { twins } from './part/twins.ts';
import type { Part } from './part.ts';

/** All parts. */
export const story: readonly Part[] = [
  first,
  burst,
  replay,
  elsewhere,
  echoed,
  required,
  dither,
  redelivery,
  lost,
  twins,
  crash,
  chain,
];
