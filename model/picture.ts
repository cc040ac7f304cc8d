/**
 * A record as the model sees it, in a line of text: what the model's transitions and those of the code are compared
 * by. Coarser than either record, so that they meet, and fine enough that no rule of design section 3 is lost in it;
 * README, "The model as data", says what is left out and why.
 */

/** What both the model and the code have of one record. */
export type Parts = {
  readonly money:
    | 'none'
    | 'sending'
    | 'unknown'
    | 'held'
    | 'settled'
    | 'refused'
    | 'voided'
    | 'reversed'
    | 'refunded';
  readonly phase: 'pay' | 'charge' | 'void';
  /** Sends begun since money was last none. */
  readonly sends: number;
  /** The chain says so, and not a facilitator. */
  readonly proven: boolean;
  readonly work: 'idle' | 'running' | 'done' | 'failed' | 'dead';
  readonly attempts: number;
  /** `grace` is for running work alone; without an owner it means nothing. */
  readonly lease: 'valid' | 'grace' | 'over';
  readonly owned: boolean;
  readonly kept: boolean;
  readonly doubted: boolean;
  readonly handed: boolean;
  readonly superseded: boolean;
};

/** A record, or that there is none. */
export function pictureOf(parts: Parts | undefined): string {
  if (parts === undefined) return 'absent';
  // What was never sent and never will be: whatever else it says, nothing may happen to it any more.
  if (parts.superseded) return 'superseded';
  if (parts.work === 'dead') return 'dead';
  if (parts.money === 'reversed' || parts.money === 'refunded') return parts.money;
  const { kept, doubted, handed } = parts;
  const flags = [kept ? 'kept' : '', doubted ? 'doubted' : '', handed ? 'delivered' : ''];
  return [moneyOf(parts), workOf(parts), ownerOf(parts), ...flags].filter((word) => word !== '').join(' ');
}

function moneyOf({ money, phase, sends, proven }: Parts): string {
  switch (money) {
    case 'none':
      return 'none';
    case 'sending':
    case 'unknown': {
      const of = phase === 'pay' ? '' : `-${phase}`;
      return `${money}${of}#${Math.min(sends, 2)}`;
    }
    case 'settled':
    case 'refused':
    case 'voided':
      return proven ? `${money}!` : money;
    case 'held':
      return phase === 'pay' ? 'held' : `held-${phase}`;
    case 'reversed':
    case 'refunded':
      return money;
    default:
      return money satisfies never;
  }
}

/** Work that nobody owns is not running, whatever its record says. */
function workOf({ work, owned, attempts }: Parts): string {
  const now = work === 'running' && !owned ? 'failed' : work;
  return `${now}/${attempts}`;
}

function ownerOf({ owned, lease }: Parts): string {
  return owned ? `owner:${lease}` : '';
}
