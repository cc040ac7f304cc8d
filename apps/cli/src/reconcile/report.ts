/** What a pass of `counterfoil reconcile` found, for a person and for a program. */
import { moneyNow } from 'counterfoil/claim';
import { basisOf, type Recheck, type ReconcileSummary, type Resolution } from 'counterfoil/settlement';
import { displayText } from 'counterfoil/wire';
import { type Colors, exits } from '../io.ts';
import { formatMoney } from '../money.ts';
import { shortKey, transactionOf } from '../payments/scan.ts';
import { renderTable } from '../table.ts';

export type Outcome = {
  readonly summary: ReconcileSummary;
  readonly resolutions: readonly Resolution[];
  /** Second looks that somebody should read: missing, undone, or not to be read. */
  readonly rechecks: readonly Recheck[];
};

/**
 * 3 where something could not be read: the operator can do something about that. 1 where money is still unknown, is
 * owed, or is not where it was. Else 0.
 */
export function exitOf(summary: ReconcileSummary): number {
  const { unreadable, unreadableNetworks, failed, complete, stillUnknown, owed, missing, undone } = summary;
  // Also where only settlements could not be looked at again: whether they stand was not told.
  if (unreadable + unreadableNetworks.length + failed > 0 || !complete) return exits.unknown;
  return stillUnknown + owed + missing + undone > 0 ? exits.fails : exits.holds;
}

/** Whether a person should read of this second look. */
export function isTelling({ standing }: Recheck): boolean {
  return standing === 'missing' || standing === 'undone' || standing === 'landed';
}

export function jsonOf({ summary, resolutions, rechecks }: Outcome): unknown {
  const rows = (looks: readonly (Resolution | Recheck)[]): readonly unknown[] =>
    looks.map((look) => {
      const { key, route, network, payer, amount } = look.record;
      return {
        key,
        route,
        network,
        payer,
        amount,
        fate: look.fate,
        changed: look.changed,
        ...('standing' in look ? { standing: look.standing } : {}),
        money: moneyNow(look.record, look.nowMs).state,
        basis: basisOf(look.record.money) ?? null,
        transaction: transactionOf(look.record) ?? null,
      };
    });
  return { ...summary, payments: rows(resolutions), settlements: rows(rechecks) };
}

/** The table of the looks, and one sentence or two about all of them. */
export function textOf(outcome: Outcome, colors: Colors): string {
  const looks = [...outcome.resolutions, ...outcome.rechecks];
  const table = looks.length === 0 ? '' : `${tableOf(looks, colors)}\n`;
  return `${table}${sentenceOf(outcome.summary)}\n`;
}

function tableOf(looks: readonly (Resolution | Recheck)[], colors: Colors): string {
  const rows = looks.map((look) => {
    const { record, fate, nowMs } = look;
    return [
      shortKey(record),
      displayText(record.route, 32),
      record.network,
      formatMoney(record.amount, { network: record.network, address: record.asset }),
      'standing' in look ? `${look.standing}: ${fateText(fate)}` : fateText(fate),
      moneyNow(record, nowMs).state,
      basisOf(record.money) ?? '-',
      transactionOf(record) ?? '-',
    ];
  });
  const head = ['key', 'route', 'network', 'amount', 'the chain says', 'money', 'word of', 'transaction'];
  return renderTable({ head: head.map((title) => colors.bold(title)), rows, right: [3] });
}

function fateText(fate: Resolution['fate']): string {
  switch (fate.kind) {
    case 'settled':
      return `settled in block ${fate.block}`;
    case 'expired':
      return `ended unused, final block ${fate.block}`;
    case 'canceled':
      return `canceled in block ${fate.block}`;
    case 'used_elsewhere':
      return `used elsewhere, block ${fate.block}`;
    case 'shallow':
      return `${fate.as === 'settled' ? 'settled' : fate.as.replace('_', ' ')} in block ${fate.block}, ${fate.confirmations} deep, which is not enough`;
    case 'unused':
      return `unused at block ${fate.block}`;
    case 'unread':
      return `not read: ${displayText(fate.why)}`;
    case 'no_chain':
      return 'not asked: no --rpc for it';
    default:
      return fate satisfies never;
  }
}

/** One sentence about the doubts, one about the settlements, and what is left to do. */
export function sentenceOf(summary: ReconcileSummary): string {
  const { looked, settled, refused, stillUnknown, unreadable } = summary;
  const { rechecked, final, missing, undone, owed, failed, complete, unreadableNetworks } = summary;
  const doubts =
    looked === 0
      ? 'No payment of this store has unknown money.'
      : `${looked} looked up: ${settled} settled, ${refused} refused, ${stillUnknown} not proven yet, ${unreadable} could not be read.`;
  const parts = [
    doubts,
    rechecked === 0
      ? ''
      : `${rechecked} settlements looked at again: ${final} final now, ${missing} missing, ${undone} undone.`,
    owed === 0 ? '' : `${owed} owed: see payments list --owed.`,
    unreadableNetworks.length === 0 ? '' : `Could not be read: ${unreadableNetworks.join(', ')}.`,
    failed === 0 ? '' : `${failed} steps failed in the store or on the way to it.`,
    complete ? '' : 'The pass ended before everything was looked at.',
  ];
  return parts.filter((part) => part !== '').join('\n');
}
