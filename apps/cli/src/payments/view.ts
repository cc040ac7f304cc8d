/**
 * A record as it is shown: everything that was decided about it, and nothing that is sealed. Amounts are decimal
 * texts in JSON; times are Unix milliseconds.
 */
import { type ClaimRecord, leaseAlive, type MoneyAxis, moneyNow, type SendEntry } from 'counterfoil/claim';
import { assuranceOf, type Basis, basisOf } from 'counterfoil/settlement';
import { displayText } from 'counterfoil/wire';
import type { Colors } from '../io.ts';
import { formatMoney } from '../money.ts';
import { renderTable } from '../table.ts';
import { formatSpan, formatTime } from '../time.ts';
import { isOwed } from './filter.ts';
import { nextStep } from './restart.ts';
import { shortKey, transactionOf } from './scan.ts';

/** A row of `payments list --json`. */
export type PaymentRow = {
  readonly key: string;
  readonly route: string;
  readonly network: string;
  readonly asset: string;
  readonly payer: string;
  readonly amount: bigint;
  readonly money: MoneyAxis['state'];
  readonly work: ClaimRecord['work']['state'];
  readonly attempts: number;
  readonly flow: ClaimRecord['flow'];
  readonly transaction: string | null;
  /** On whose word the money moved or was refused, and how deep the chain was looked into. */
  readonly basis: Basis | null;
  readonly owed: boolean;
  readonly closed: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** The row of a record, with its money as it must be read now. */
export function rowOf(record: ClaimRecord, nowMs: number): PaymentRow {
  const { key, route, network, asset, payer, amount, attempts, createdAtMs, updatedAtMs } = record;
  return {
    key,
    route,
    network,
    asset,
    payer,
    amount,
    money: moneyNow(record, nowMs).state,
    work: record.work.state,
    attempts,
    flow: record.flow,
    transaction: transactionOf(record) ?? null,
    basis: basisOf(record.money) ?? null,
    owed: isOwed(record, nowMs),
    closed: record.closed?.reference ?? null,
    createdAtMs,
    updatedAtMs,
  };
}

/** The table of `payments list`. */
export function listTable(records: readonly ClaimRecord[], nowMs: number, colors: Colors): string {
  const head = [
    'key',
    'route',
    'payer',
    'amount',
    'money',
    'word of',
    'work',
    'attempts',
    'transaction',
    'age',
  ];
  const rows = records.map((record) => [
    shortKey(record),
    displayText(record.route, 32),
    shortHex(record.payer),
    amountOf(record),
    paintMoney(moneyNow(record, nowMs).state, colors),
    basisOf(record.money) ?? '-',
    workText(record, nowMs),
    `${record.attempts}/${record.maxAttempts}`,
    shortHex(transactionOf(record) ?? '-'),
    formatSpan(Math.max(0, nowMs - record.createdAtMs)),
  ]);
  return renderTable({ head: head.map((title) => colors.bold(title)), rows, right: [3, 9] });
}

function workText(record: ClaimRecord, nowMs: number): string {
  if (record.closed !== undefined) return `${record.work.state}, closed`;
  return isOwed(record, nowMs) ? `${record.work.state}, owed` : record.work.state;
}

/** Everything about one payment, for a person. */
export function showText(record: ClaimRecord, nowMs: number, colors: Colors): string {
  const blocks = [
    factTable(record, nowMs, colors),
    `${colors.bold('sends')}\n${timeline(record.sendLog)}`,
    `${colors.bold('next')}\n  ${nextStep(record, nowMs)}\n`,
  ];
  return blocks.join('\n');
}

/** Everything about one payment, for a program; `next` is the sentence for people. */
export function showJson(record: ClaimRecord, nowMs: number): unknown {
  return {
    ...record,
    moneyNow: moneyNow(record, nowMs),
    basis: basisOf(record.money) ?? null,
    owed: isOwed(record, nowMs),
    leaseAlive: leaseAlive(record, nowMs),
    next: nextStep(record, nowMs),
  };
}

function factTable(record: ClaimRecord, nowMs: number, colors: Colors): string {
  const { lease } = record;
  const rows: [string, string][] = [
    ['key', record.key],
    ['route', `${displayText(record.route)} (${record.flow})`],
    ['resource', displayText(record.resourceUrl)],
    ['amount', `${amountOf(record)} (${record.amount} of ${record.asset} on ${record.network})`],
    ['payer', record.payer],
    ['pay to', record.payTo],
    ['valid', validText(record)],
    [
      'first seen',
      `${formatTime(record.createdAtMs)}, ${formatSpan(Math.max(0, nowMs - record.createdAtMs))} ago`,
    ],
    ['money', moneyText(moneyNow(record, nowMs), colors)],
    ['settlement', believedText(record, nowMs)],
    ['work', `${record.work.state}, attempt ${record.attempts} of ${record.maxAttempts}`],
    [
      'lease',
      lease === undefined
        ? 'nobody'
        : `${displayText(lease.owner)}, fence ${lease.fence}, ${leaseText(lease.untilMs, nowMs)}`,
    ],
    ['answer', answerText(record)],
    ...linkRows(record),
  ];
  return renderTable({ head: ['', ''], rows: rows.map(([name, text]) => [colors.bold(name), text]) });
}

/** Stock clients sign a beginning of 0: valid at once. */
function validText({ validAfterMs, validBeforeMs }: ClaimRecord): string {
  const until = `until ${formatTime(validBeforeMs)}`;
  return validAfterMs === 0 ? until : `from ${formatTime(validAfterMs)} ${until}`;
}

function linkRows(record: ClaimRecord): [string, string][] {
  return [
    ...(record.supersededBy === undefined
      ? []
      : [['served by', record.supersededBy] satisfies [string, string]]),
    ...(record.servedTo === undefined ? [] : [['served to', record.servedTo] satisfies [string, string]]),
    ...(record.closed === undefined
      ? []
      : [
          ['closed', `${formatTime(record.closed.atMs)}, ${displayText(record.closed.reference)}`] satisfies [
            string,
            string,
          ],
        ]),
  ];
}

/** What a settlement of it must rest on, and what is still to be seen of one that is not final. */
function believedText(record: ClaimRecord, nowMs: number): string {
  const { state } = moneyNow(record, nowMs);
  const open = state === 'none' || state === 'sending' || state === 'unknown';
  const wanted = `${open ? 'will be believed' : 'believed'} on the word of: ${assuranceOf(record)}`;
  if (record.money.state !== 'settled') return wanted;
  if (record.money.finality === 'finalized') return `${wanted}; final, it is not looked at again`;
  const again = record.proveAtMs === undefined ? 'at the next pass' : `from ${formatTime(record.proveAtMs)}`;
  return `${wanted}; not final, looked at again ${again}`;
}

function moneyText(money: MoneyAxis, colors: Colors): string {
  const state = paintMoney(money.state, colors);
  switch (money.state) {
    case 'none':
      return `${state}, nothing was ever sent`;
    case 'sending':
      return `${state} (${money.phase}, send ${money.n})`;
    case 'unknown':
      return `${state} (${money.phase}, send ${money.n}${money.transaction === undefined ? '' : `, ${money.transaction}`})`;
    case 'held':
      return `${state} in ${money.transaction}, ${basisOf(money)}`;
    case 'settled': {
      const block = money.block === undefined ? '' : `, block ${money.block}`;
      return `${state} in ${money.transaction}${block}, ${basisOf(money)}`;
    }
    case 'refused':
      return `${state}: ${money.why}, ${displayText(money.reason)}, by the word of the ${money.rank}`;
    case 'voided':
    case 'reversed':
      return `${state}, ${money.transaction}`;
    case 'refunded':
      return `${state}, ${displayText(money.reference)}`;
    default:
      return money satisfies never;
  }
}

function leaseText(untilMs: number, nowMs: number): string {
  return untilMs > nowMs ? `for another ${formatSpan(untilMs - nowMs)}` : `over since ${formatTime(untilMs)}`;
}

function answerText(record: ClaimRecord): string {
  const kept = record.answerBytes === undefined ? 'none kept' : `${record.answerBytes} octets kept, sealed`;
  const delivered =
    record.deliveredAtMs === undefined
      ? 'never delivered whole'
      : `delivered ${formatTime(record.deliveredAtMs)}`;
  const until = record.keepUntilMs === undefined ? '' : `, kept until ${formatTime(record.keepUntilMs)}`;
  return `${kept}, ${delivered}${until}${record.abandoned === true ? ', not answered yet' : ''}`;
}

/** Each entry of the send log with the time since the one before. */
function timeline(log: readonly SendEntry[]): string {
  if (log.length === 0) return '  nothing was ever sent\n';
  const rows = log.map((entry, index) => {
    const before = log[index - 1];
    const since = before === undefined ? '' : `+${formatSpan(Math.max(0, entry.atMs - before.atMs))}`;
    const more = [entry.reason === undefined ? '' : displayText(entry.reason), entry.transaction ?? ''];
    return [
      formatTime(entry.atMs),
      since,
      `${entry.phase} ${entry.n}`,
      `${entry.said} (${entry.by})`,
      more.filter((text) => text !== '').join(' '),
    ];
  });
  return renderTable({ head: ['', '', '', '', ''], rows, right: [1], indent: '  ' });
}

/** The amount in the decimals of its token. */
export function amountOf(record: ClaimRecord): string {
  return formatMoney(record.amount, { network: record.network, address: record.asset });
}

function shortHex(text: string): string {
  return text.length > 14 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text;
}

function paintMoney(state: MoneyAxis['state'], colors: Colors): string {
  if (state === 'settled' || state === 'held') return colors.green(state);
  if (state === 'unknown' || state === 'sending') return colors.yellow(state);
  return state === 'none' ? state : colors.red(state);
}
