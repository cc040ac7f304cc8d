/**
 * What a settlement rests on, in the words that events, records and commands share: a facilitator's word, or the chain
 * and how deep it was looked into (attacks S05, S07, F01).
 */
import type { ClaimRecord, Finality, MoneyAxis } from '../claim/index.ts';

/** `facilitator-asserted`, `chain latest`, `chain 3`, `chain safe` or `chain finalized`. */
export type Basis = 'facilitator-asserted' | `chain ${Finality}`;

/** What the record's money rests on; undefined where it neither moved nor was refused. */
export function basisOf(money: MoneyAxis): Basis | undefined {
  switch (money.state) {
    case 'settled':
      return money.rank === 'facilitator' ? 'facilitator-asserted' : `chain ${money.finality ?? 'latest'}`;
    case 'held':
    case 'refused':
      return money.rank === 'facilitator' ? 'facilitator-asserted' : 'chain latest';
    case 'none':
    case 'sending':
    case 'unknown':
    case 'voided':
    case 'reversed':
    case 'refunded':
      return undefined;
    default:
      return money satisfies never;
  }
}

/** What a settlement of this record must rest on before it counts. */
export function assuranceOf(record: Pick<ClaimRecord, 'assurance'>): Basis {
  return record.assurance === undefined ? 'facilitator-asserted' : `chain ${record.assurance}`;
}
