/**
 * The command line: one function that takes arguments and streams and resolves with an exit code. Each command is
 * loaded when it is asked for, so that `decode` does not wait for what a chain needs.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { DecodeOptions } from './decode/command.ts';
import type { DemoOptions } from './demo/command.ts';
import type { DevnetFlags } from './devnet.ts';
import { colorsOf, escapeLines, exits, explain, type Io, MisuseError, wholeNumber } from './io.ts';
import type { CloseOptions } from './payments/close.ts';
import type { ListOptions, ShowOptions } from './payments/command.ts';
import type { ReconcileOptions } from './reconcile/command.ts';

const codes = `
Exit codes: 0 what was asked holds, 1 it does not hold, 2 the command was used wrongly, 3 it could not be told.
Results go to standard output, everything else to standard error. NO_COLOR is respected.`;

/** Most copies in one burst: each is a connection, and a shell allows about a thousand. */
const mostCopies = 500;
/** A handler longer than this leaves too little of a minute for the rest. */
const longestWorkMs = 20_000;
/** Rows of one page of `payments list`; more is what `--after` is for. */
const longestPage = 1_000;

/** Told the exit code of the command that ran. */
type Finish = (code: number) => void;

/** Runs a command; resolves with its exit code and never rejects. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let code: number = exits.holds;
  const program = build(io, (told) => {
    code = told;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (fault) {
    return failed(fault, io);
  }
}

/** What a person is told of a failure, and its exit code; a stack only for who asks for one. */
function failed(fault: unknown, io: Io): number {
  if (fault instanceof CommanderError) return fault.exitCode === 0 ? exits.holds : exits.misuse;
  io.stderr.write(`${colorsOf(io, io.stderr).red('counterfoil:')} ${explain(fault)}\n`);
  if (fault instanceof MisuseError) return exits.misuse;
  if (io.env.COUNTERFOIL_DEBUG === '1' && fault instanceof Error) io.stderr.write(`${fault.stack}\n`);
  return exits.unknown;
}

function build(io: Io, finish: Finish): Command {
  const program = new Command('counterfoil')
    .description('Pay-per-request over HTTP 402 (x402 v2): payments claimed once, settled without guessing.')
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(escapeLines(text)),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
    })
    .showSuggestionAfterError()
    .addHelpText('after', codes);
  addDemo(program, io, finish);
  addDecode(program, io, finish);
  addPayments(program, io, finish);
  addReconcile(program, io, finish);
  addDevnet(program, io, finish);
  return program;
}

function version(): string {
  const about: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const named = typeof about === 'object' && about !== null && 'version' in about;
  return named ? String(about.version) : 'unknown';
}

function addDemo(program: Command, io: Io, finish: Finish): void {
  program
    .command('demo')
    .description('show the promises on a local chain, beside the official seller')
    .option('--burst <copies>', 'copies of one payment sent at once', within(2, mostCopies), 50)
    .option('--work-ms <ms>', 'how long the expensive handler works', within(200, longestWorkMs), 2_000)
    .option('--state <file>', 'keep the local chain in this file')
    .option('--keep', "keep the seller's files and say where they are")
    .option('--json', 'print the figures as one JSON object')
    .addHelpText('after', '\nExit code 0 only if every promise held, 3 if a part could not run.')
    .action(async (options: DemoOptions) => {
      const { demo } = await import('./demo/command.ts');
      finish(await demo(options, io));
    });
}

function addDecode(program: Command, io: Io, finish: Finish): void {
  program
    .command('decode')
    .description('say what an x402 header is, what is in it, and what is wrong with it')
    .argument('<header...>', 'a header line, its value alone, or - for standard input (as from curl -i)')
    .option('--full', 'print signatures and long values in full')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', '\nExit code 0 for sound version 2, 1 for problems, 3 for no x402 message at all.')
    .action(async (words: readonly string[], options: DecodeOptions) => {
      const { decode } = await import('./decode/command.ts');
      finish(await decode(words.join(' '), options, io));
    });
}

/** Where the store is; said alike by every command that opens one. */
function onStore(command: Command): Command {
  return command
    .option('--store <place>', 'SQLite file, postgres://… or redis://… of the seller (or COUNTERFOIL_STORE)')
    .option('--schema <name>', 'the schema of a PostgreSQL store')
    .option('--prefix <text>', 'the key prefix of a Redis or Valkey store');
}

function addPayments(program: Command, io: Io, finish: Finish): void {
  const payments = program.command('payments').description("look into a seller's claim store");
  addList(payments, io, finish);
  onStore(payments.command('show'))
    .description('one payment: its two axes, its sends, and what a restart would do; never what is sealed')
    .argument('<key>', 'the key, or the unique beginning of the key, the nonce or the transaction')
    .option('--json', 'print the payment as JSON')
    .addHelpText('after', '\nExit code 1 if there is no such payment.')
    .action(async (key: string, options: ShowOptions) => {
      const { showPayment } = await import('./payments/command.ts');
      finish(await showPayment(key, options, io));
    });
  onStore(payments.command('close'))
    .description('say that a payment was dealt with by hand: nobody waits for it any more')
    .argument('<key>', 'the key, or the unique beginning of the key, the nonce or the transaction')
    .option('--reference <text>', 'what was done, as a ticket names it')
    .option('--refunded <text>', 'the money was paid back, by this transaction or transfer')
    .option('--yes', 'do not ask')
    .option('--json', 'print the payment as it is then as JSON')
    .addHelpText(
      'after',
      '\nExit code 1 if it cannot be closed: nothing was sent, a process holds it, or you said no.' +
        '\nNo work runs for a closed payment, and a newer one for the same request is a purchase of its own.',
    )
    .action(async (key: string, options: CloseOptions) => {
      const { closePayment } = await import('./payments/close.ts');
      finish(await closePayment(key, options, io));
    });
}

function addList(payments: Command, io: Io, finish: Finish): void {
  onStore(payments.command('list'))
    .description('the payments of a store, in the order of their keys')
    .option('--money <state>', 'only payments whose money is in this state, such as unknown')
    .option('--work <state>', 'only payments whose work is in this state, such as done')
    .option('--flow <flow>', 'only payments of this flow: authorization, upfront or escrow')
    .option('--network <network>', 'only payments on this network, as eip155:8453')
    .option('--payer <address>', 'only payments of this payer, or of payers that begin so')
    .option('--route <text>', 'only payments for routes that contain this')
    .option('--unknown', 'only payments whose money is unknown')
    .option('--owed', 'only payments that moved for an answer that nobody got')
    .option('--canceled', 'only payments that their payer canceled')
    .option('--reversed', 'only payments that the chain has undone')
    .option('--since <when>', 'only payments first seen since then: 2h, 7d, 2026-01-31')
    .option('--limit <rows>', 'rows of one page', within(1, longestPage), 50)
    .option('--after <key>', 'begin after this key, which the page before named')
    .option('--json', 'print the page as JSON')
    .action(async (options: ListOptions) => {
      const { listPayments } = await import('./payments/command.ts');
      finish(await listPayments(options, io));
    });
}

function addReconcile(program: Command, io: Io, finish: Finish): void {
  onStore(program.command('reconcile'))
    .description(
      'ask the chain about unknown payments and settlements not final, and write down what it proves',
    )
    .option(
      '--rpc <[network=]url>',
      'JSON-RPC to ask; repeatable, several of one network check each other',
      gather,
      [],
    )
    .option(
      '--finality <depth>',
      'believe latest, safe, finalized, or so many confirmations (default: latest)',
    )
    .option('--watch [seconds]', 'again and again, until Ctrl-C (default: every 30 seconds)')
    .option('--json', 'print the look-ups and their sum as JSON, one line for each pass')
    .addHelpText(
      'after',
      '\nExit code 0 if no money is unknown and nothing is owed, 1 if the chains were read and prove nothing yet for' +
        '\nsome, or something is owed, missing or undone, 3 if a chain or the store could not be read.' +
        '\nNothing is sent again and nobody is charged.',
    )
    .action(async (options: ReconcileOptions) => {
      const { reconcilePayments } = await import('./reconcile/command.ts');
      finish(await reconcilePayments(options, io));
    });
}

function addDevnet(program: Command, io: Io, finish: Finish): void {
  program
    .command('devnet')
    .description('run a local chain with a test dollar and a real facilitator, until Ctrl-C')
    .option('--block-time <seconds>', 'a block every so many seconds, not one for each transaction', whole)
    .option('--state <file>', 'keep the chain in this file between runs')
    .option('--port <port>', 'port of the JSON-RPC (default: a free one)', whole)
    .option('--facilitator-port <port>', 'port of the facilitator (default: a free one)', whole)
    .option('--accounts <buyers>', 'funded buyers (default: 6)', whole)
    .option('--stop-with-stdin', 'end when standard input ends')
    .option('--json', 'one line of JSON when ready')
    .action(async (options: DevnetFlags) => {
      const { devnet } = await import('./devnet.ts');
      finish(await devnet(options, io));
    });
}

function within(least: number, most: number): (text: string) => number {
  return (text) => {
    try {
      return wholeNumber('It', text, { least, most });
    } catch (fault) {
      throw new InvalidArgumentError(explain(fault));
    }
  };
}

const whole = within(0, 999_999);

function gather(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}
