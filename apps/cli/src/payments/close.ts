/**
 * `counterfoil payments close`: an operator has dealt with a payment outside, by hand, and says how. From then on nobody
 * waits for it: it is not owed, does not stand before newer payments, and is forgotten in time.
 */
import { createInterface } from 'node:readline/promises';
import {
  type ClaimRecord,
  type ClaimStore,
  leaseAlive,
  moneyNow,
  type RecordOutcome,
} from 'counterfoil/claim';
import { displayText } from 'counterfoil/wire';
import { exits, type Io, MisuseError, writeJson } from '../io.ts';
import { type StoreOptions, withStore } from '../open.ts';
import { formatTime } from '../time.ts';
import { findOne, noneBegins } from './command.ts';
import { shortKey } from './scan.ts';
import { amountOf, showJson } from './view.ts';

export type CloseOptions = StoreOptions & {
  /** What was done, as a ticket or a mail names it. */
  readonly reference?: string;
  /** The same where the money was paid back: the transaction, or the name of the transfer. */
  readonly refunded?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
};

type Closing = { readonly how: 'closed' | 'refunded'; readonly reference: string };

/** A name of something, not its story. */
const longestReference = 200;

/** Closes one payment; 0 done, 1 it cannot be closed or the person said no, 2 used wrongly. */
export async function closePayment(text: string, options: CloseOptions, io: Io): Promise<number> {
  const closing = closingOf(options);
  return withStore(options, io, async (store) => {
    const record = await findOne(store, text);
    if (record === undefined) return noneBegins(text, io);
    const hindrance = hindranceOf(record, closing, io.nowMs());
    if (hindrance !== undefined) return refused(record, hindrance, io);
    if (options.yes !== true && !(await confirmed(record, closing, io))) {
      io.stderr.write('Nothing was changed.\n');
      return exits.fails;
    }
    const told = await write(store, record.key, closing);
    if (!told.changed) return refused(record, 'It has changed meanwhile; look at it again.', io);
    report(told.record ?? record, closing, { options, io });
    return exits.holds;
  });
}

function closingOf({ reference, refunded }: CloseOptions): Closing {
  const [given, ...more] = [reference, refunded].filter((text) => text !== undefined);
  if (given === undefined || more.length > 0)
    throw new MisuseError(
      'Say either --reference with what was done, or --refunded with how it was paid back.',
    );
  const text = given.trim();
  if (text === '' || text.length > longestReference || /\p{Cc}/u.test(text))
    throw new MisuseError(`A reference has 1 to ${longestReference} characters, in one line.`);
  return { how: refunded === undefined ? 'closed' : 'refunded', reference: text };
}

/** Why this payment is none of an operator's business yet, or any more. */
function hindranceOf(record: ClaimRecord, { how }: Closing, nowMs: number): string | undefined {
  if (leaseAlive(record, nowMs))
    return `A process holds it until ${formatTime(record.lease?.untilMs ?? nowMs)}; wait for that.`;
  const { state } = moneyNow(record, nowMs);
  if (state === 'none') return 'Nothing of it was ever sent, so there is nothing to deal with.';
  if (how === 'refunded' && state !== 'settled')
    return `Its money is ${state}, and only settled money can be paid back. Reconcile it first.`;
  if (how === 'closed' && record.closed !== undefined)
    return `It was closed on ${formatTime(record.closed.atMs)}: ${displayText(record.closed.reference)}.`;
  return undefined;
}

function refused(record: ClaimRecord, why: string, io: Io): number {
  io.stderr.write(`${shortKey(record)} was not closed. ${why}\n`);
  return exits.fails;
}

function write(store: ClaimStore, key: string, { how, reference }: Closing): Promise<RecordOutcome> {
  return how === 'closed'
    ? store.deliver(key, { kind: 'closed', reference })
    : store.recordMoney(key, { fact: 'refunded', reference });
}

/** Asked of a person at a terminal; a program says --yes. */
async function confirmed(record: ClaimRecord, { how, reference }: Closing, io: Io): Promise<boolean> {
  if (io.stdin.isTTY !== true) throw new MisuseError('Nobody is there to ask; say --yes.');
  const { state } = moneyNow(record, io.nowMs());
  io.stderr.write(
    `${shortKey(record)}: ${displayText(record.route, 32)}, ${amountOf(record)} of ${record.payer}, money ${state}, work ${record.work.state}\n`,
  );
  const lines = createInterface({ input: io.stdin });
  try {
    io.stderr.write(
      `Mark it as ${how}, "${displayText(reference)}"? No work will run for it any more. [y/N] `,
    );
    const answer = await lines[Symbol.asyncIterator]().next();
    return answer.done !== true && /^\s*y(es)?\s*$/i.test(answer.value);
  } finally {
    lines.close();
  }
}

function report(
  record: ClaimRecord,
  { how, reference }: Closing,
  { options, io }: { readonly options: CloseOptions; readonly io: Io },
): void {
  if (options.json === true) writeJson(io, showJson(record, io.nowMs()));
  else io.stdout.write(`${shortKey(record)} is ${how}: ${displayText(reference)}.\n`);
}
