/**
 * Records as text for stores: JSON in which the three amounts of a record are decimal strings. No marker is used
 * for them, since the terms of a record may carry members of any name.
 */
import type { PaymentRequirements } from '../wire/v2.ts';
import type { ClaimRecord, MoneyAxis } from './record.ts';

type Written<T> = T extends { readonly amount: bigint } ? Omit<T, 'amount'> & { readonly amount: string } : T;

type StoredRecord = Omit<ClaimRecord, 'amount' | 'requirement' | 'money'> & {
  readonly amount: string;
  readonly requirement: Written<PaymentRequirements>;
  readonly money: Written<MoneyAxis>;
};

/** One record as JSON text. */
export function encodeRecord(record: ClaimRecord): string {
  const { amount, requirement, money } = record;
  const stored: StoredRecord = {
    ...record,
    amount: amount.toString(),
    requirement: { ...requirement, amount: requirement.amount.toString() },
    money: money.state === 'settled' ? { ...money, amount: money.amount.toString() } : money,
  };
  return JSON.stringify(stored);
}

/** The record of a text that {@link encodeRecord} wrote; throws SyntaxError on anything else. */
export function decodeRecord(text: string): ClaimRecord {
  const stored: unknown = JSON.parse(text);
  if (!isStored(stored)) throw new SyntaxError('This text is not a claim record.');
  const { amount, requirement, money } = stored;
  return {
    ...stored,
    amount: BigInt(amount),
    requirement: { ...requirement, amount: BigInt(requirement.amount) },
    money: money.state === 'settled' ? { ...money, amount: BigInt(money.amount) } : money,
  };
}

/** Only texts of our own making come here, so the members that reading itself relies on are enough. */
function isStored(value: unknown): value is StoredRecord {
  if (!isObject(value) || typeof value.key !== 'string' || typeof value.amount !== 'string') return false;
  const { requirement, money } = value;
  if (!isObject(requirement) || typeof requirement.amount !== 'string' || !isObject(money)) return false;
  return typeof money.state === 'string' && isObject(value.work);
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null;
}
