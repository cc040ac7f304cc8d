/**
 * Whether what the buyer says it accepted is something we ask. What is used afterwards is always our own entry,
 * never the buyer's copy, so an amount, an address or a time-out cannot come in with the payment (B08, B09).
 */
import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';
import type { Json, JsonObject, PaymentRequirements } from '../wire/v2.ts';

/** Finds our own entry for the buyer's copy, or names the members in which the nearest entry differs. */
export function matchRequirement(
  accepted: PaymentRequirements,
  requirements: readonly PaymentRequirements[],
): Outcome<PaymentRequirements> {
  let nearest: readonly string[] | undefined;
  for (const requirement of requirements) {
    const fields = differences(accepted, requirement);
    if (fields.length === 0) return succeed(requirement);
    if (nearest === undefined || fields.length < nearest.length) nearest = fields;
  }
  return refuse('requirement_mismatch', { fields: nearest ?? [] });
}

function differences(accepted: PaymentRequirements, ours: PaymentRequirements): readonly string[] {
  const fields: string[] = [];
  if (accepted.scheme !== ours.scheme) fields.push('scheme');
  if (accepted.network !== ours.network) fields.push('network');
  if (!sameAddress(accepted.asset, ours.asset)) fields.push('asset');
  if (accepted.amount !== ours.amount) fields.push('amount');
  if (!sameAddress(accepted.payTo, ours.payTo)) fields.push('payTo');
  if (accepted.maxTimeoutSeconds !== ours.maxTimeoutSeconds) fields.push('maxTimeoutSeconds');
  return fields.concat(extraDifferences(accepted.extra, ours.extra));
}

/**
 * Every member of ours must be there and equal. A member that we did not ask for is refused too, whatever its name:
 * which ones alter a settlement is known to the scheme of the day, not to us. Null counts as absent (P08).
 */
function extraDifferences(accepted: JsonObject, ours: JsonObject): readonly string[] {
  const fields = new Set<string>();
  for (const name of [...Object.keys(ours), ...Object.keys(accepted)]) {
    if (sameJson(ownMember(accepted, name), ownMember(ours, name))) continue;
    // A name that is not ours was chosen by the buyer and is not repeated in an answer.
    fields.add(Object.hasOwn(ours, name) ? `extra.${name}` : 'extra');
  }
  return [...fields];
}

function ownMember(object: JsonObject, name: string): Json {
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

/** Two EVM addresses are the same in any letter case; other names of accounts only as they are written. */
function sameAddress(left: string, right: string): boolean {
  return left === right || (isEvmAddress(left) && left.toLowerCase() === right.toLowerCase());
}

function isEvmAddress(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text);
}

function sameJson(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  const [ours, theirs] = [Object.entries(left), Object.entries(right)];
  if (isList(left) !== isList(right) || ours.length !== theirs.length) return false;
  return ours.every(([name, value]) => {
    const other = theirs.find(([candidate]) => candidate === name);
    return other !== undefined && sameJson(value, other[1]);
  });
}

function isList(value: Json): boolean {
  return Array.isArray(value);
}
