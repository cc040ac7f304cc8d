/**
 * Amounts and prices. An amount is a `bigint` in atomic units and a decimal string on the wire; a price is a
 * `$` text for people. The two are never the same type, and the way from one to the other is exact decimal
 * arithmetic without rounding (bug reports 003, 005 and 006 are what floats and bare numbers led to).
 */

/** The largest uint256: no EVM token can move more, and no other chain that we serve counts further. */
export const maxAmount: bigint = 2n ** 256n - 1n;

/** 78 digits write every uint256. */
const amountPattern = /^(?:0|[1-9][0-9]{0,77})$/;

/** ERC-20 `decimals` is a uint8. */
const maxDecimals = 255;

/** A `$`, 78 digits, a point and 255 decimals: nothing longer can be a price. */
const maxMoneyLength = 1 + 78 + 1 + maxDecimals;

/** Parses an amount in atomic units as it stands on the wire: decimal, no sign, no leading zero, <= 2^256 - 1. */
export function parseAmount(text: string): bigint | undefined {
  if (!amountPattern.test(text)) return undefined;
  const amount = BigInt(text);
  return amount <= maxAmount ? amount : undefined;
}

/** Formats an amount in atomic units for the wire; an amount outside 0..2^256 - 1 throws RangeError. */
export function formatAmount(amount: bigint): string {
  if (amount < 0n || amount > maxAmount) throw new RangeError('an amount lies between 0 and 2^256 - 1');
  return amount.toString();
}

/** A price for people: `$` and a decimal number. A bare number is no price, because it could mean atomic units. */
export type Money = `$${string}`;

/** Why a text is no price; each has a sentence in {@link moneyFaults}. */
export type MoneyFault =
  | 'not_text'
  | 'white_space'
  | 'ambiguous'
  | 'negative'
  | 'grouping'
  | 'exponent'
  | 'not_a_number'
  | 'zero'
  | 'too_precise'
  | 'too_large';

/** The amount in atomic units, or why there is none. */
export type MoneyResult =
  | { readonly ok: true; readonly value: bigint }
  | { readonly ok: false; readonly fault: MoneyFault };

/** Each fault as a sentence for the person who wrote the price. */
export const moneyFaults: { readonly [fault in MoneyFault]: string } = {
  not_text: 'A price is a text like "$0.01"; a number cannot hold every price exactly.',
  white_space: 'A price has no white space.',
  ambiguous: 'A price begins with "$"; without it the text could also mean atomic units, which are a bigint.',
  negative: 'A price is not negative and has no sign.',
  grouping: 'A price has a point before its decimals and no other separator.',
  exponent: 'A price has no exponent.',
  not_a_number: 'A price is "$", digits without a leading zero, and optionally a point and decimals.',
  zero: 'A price is more than zero.',
  too_precise: 'The asset has fewer decimals than this price, and a price is never rounded.',
  too_large: 'The price is more than any token can move.',
};

/** Names what is wrong with a text that is no `$` and decimal number, the most telling fault first. */
function moneyFault(text: string): MoneyFault {
  if (text.length > maxMoneyLength) return 'too_large';
  if (/\s/.test(text)) return 'white_space';
  if (/[-+\u2212]/.test(text.replace(/[eE][-+]/, 'e'))) return 'negative';
  if (/[,'_]/.test(text)) return 'grouping';
  if (/^\$?[0-9.]+[eE]/.test(text)) return 'exponent';
  return /^[0-9]+(?:\.[0-9]+)?$/.test(text) ? 'ambiguous' : 'not_a_number';
}

function checkDecimals(decimals: number): void {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > maxDecimals) {
    throw new RangeError('decimals is an integer between 0 and 255');
  }
}

/**
 * Converts a price like `$0.01` to atomic units of an asset with `decimals`, exactly: what would need rounding
 * is an error and so is zero. Decimals out of 0..255 throw RangeError.
 */
export function parseMoney(text: unknown, decimals: number): MoneyResult {
  checkDecimals(decimals);
  if (typeof text !== 'string') return { ok: false, fault: 'not_text' };
  const parts = text.length > maxMoneyLength ? null : /^\$(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text);
  if (parts === null) return { ok: false, fault: moneyFault(text) };
  const whole = parts[1] ?? '';
  const fraction = (parts[2] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) return { ok: false, fault: 'too_precise' };
  const value = BigInt(whole + fraction.padEnd(decimals, '0'));
  if (value === 0n) return { ok: false, fault: 'zero' };
  return value <= maxAmount ? { ok: true, value } : { ok: false, fault: 'too_large' };
}

/** Formats atomic units as a price with at least two decimals, exactly: 10000 with 6 decimals is `$0.01`. */
export function formatMoney(amount: bigint, decimals: number): Money {
  checkDecimals(decimals);
  const digits = formatAmount(amount).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const fraction = digits.slice(point).replace(/0+$/, '').padEnd(2, '0');
  return `$${digits.slice(0, point)}.${fraction}`;
}
