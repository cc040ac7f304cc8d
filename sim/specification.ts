/**
 * The model as specification: each change that the code makes to a record must be one that the model has explored for
 * that operation (model/transitions.json), or one of the few that the model leaves out, each with its reason.
 */
import { forgettable, leaseAlive } from '../lib/src/claim/index.ts';
import { afterOf, type Relation, transitionText } from '../model/transitions.ts';
import { pictureAt } from './sight.ts';
import type { Change } from './watch.ts';

/** A change that is allowed although the model does not know it. */
export type Exception = {
  readonly name: string;
  readonly why: string;
  readonly allows: (change: Change, pictures: Pictures) => boolean;
};

/** A change in the words of the model. */
export type Pictures = { readonly before: string; readonly after: string };

/** All there are; anything else is a fault of the code or of the model. */
export const exceptions: readonly Exception[] = [
  {
    name: 'forgotten',
    why: 'The model has no retention. The laws of lib/src/claim/retention.ts are held against every record that goes.',
    allows: ({ operation, before, after, nowMs }) =>
      (operation === 'prune' || operation === 'take') &&
      before !== undefined &&
      after === undefined &&
      forgettable(before, nowMs),
  },
  {
    name: 'answer of a refused payment forgotten',
    why: 'The model prunes answers that were delivered; the kept answer of an asserted refusal goes with its retention.',
    allows: ({ operation }, { before, after }) =>
      operation === 'prune' && /^refused /.test(before) && after === before.replace(' kept', ''),
  },
  {
    name: 'spent elsewhere after the last attempt was fenced off',
    why: 'The model cancels and spends elsewhere only where there is one payment, and fences off only where there are two.',
    allows: ({ operation, after }, { before }) =>
      operation === 'recordMoney' &&
      /^none failed\//.test(before) &&
      after?.money.state === 'refused' &&
      after.money.rank === 'chain',
  },
  {
    name: 'a sibling fenced off',
    why: 'The model has no payment identifiers (formats 12.2): who takes an identifier takes the fence from an owner that is late.',
    allows: ({ operation, own, before, after, nowMs }, pictures) =>
      !own &&
      (operation === 'take' || operation === 'beginSend') &&
      before !== undefined &&
      !leaseAlive(before, nowMs) &&
      /^none /.test(pictures.before) &&
      after?.lease === undefined &&
      after?.money.state === 'none' &&
      after.work.state !== 'running' &&
      after.attempts === before.attempts,
  },
  {
    name: 'closed by an operator',
    why: 'The model has no operators: closing an owed payment takes its lease, if one is left that is over.',
    allows: ({ operation, before, after, nowMs }) =>
      operation === 'deliver' &&
      before?.closed === undefined &&
      after?.closed !== undefined &&
      before !== undefined &&
      !leaseAlive(before, nowMs),
  },
  {
    name: 'after an operator has closed it',
    why: 'Closing takes the lease of a send that was never concluded, a state that the model does not have. The laws hold.',
    allows: ({ operation, before, after }) =>
      before?.closed !== undefined &&
      after?.lease === undefined &&
      (operation === 'recordMoney' || operation === 'deliver'),
  },
];

/** What the model calls the operation that made this change. */
function operationOf({ operation, asked }: Change): string {
  if (operation !== 'recordMoney') return operation;
  const fact: unknown = asked[1];
  const word = (name: string): unknown =>
    typeof fact === 'object' && fact !== null ? Reflect.get(fact, name) : undefined;
  // What runs out of time unsent is declared dead within take in the model, and in a step of its own in the code.
  if (word('fact') === 'retired') return 'take';
  return word('by') === 'chain' || word('fact') === 'reversed' ? 'proof' : 'answer';
}

export type Verdict =
  | { readonly kind: 'same' }
  /** As `flow operation: before -> after`. */
  | { readonly kind: 'known'; readonly transition: string }
  | { readonly kind: 'exception'; readonly name: string }
  | { readonly kind: 'unknown'; readonly words: string };

/** Holds one change against the relation. */
export function judgeChange(relation: Relation, change: Change, graceMs: number): Verdict {
  const { before, after, nowMs, begunBefore, begunAfter } = change;
  const flow = after?.flow ?? before?.flow ?? '';
  const operation = operationOf(change);
  const was = pictureAt(before, { nowMs, graceMs, begun: begunBefore });
  const is = pictureAt(after, { nowMs, graceMs, begun: begunAfter });
  const newOwner = after?.lease !== undefined && after.lease.fence !== before?.lease?.fence;
  const otherRequest =
    before !== undefined && after !== undefined && before.fingerprint !== after.fingerprint;
  const then = afterOf(is, { newOwner, otherRequest });
  if (was === then) return { kind: 'same' };
  if (relation[flow]?.[operation]?.[was]?.includes(then) === true)
    return { kind: 'known', transition: transitionText({ flow, operation, before: was, after: then }) };
  const allowed = exceptions.find(({ allows }) => allows(change, { before: was, after: is }));
  if (allowed !== undefined) return { kind: 'exception', name: allowed.name };
  const known = relation[flow]?.[operation]?.[was] ?? [];
  const instead = known.length === 0 ? 'nothing' : known.map((one) => `"${one}"`).join(' or ');
  return {
    kind: 'unknown',
    words: `not in the model: ${flow} ${operation} makes "${then}" of "${was}"; the model knows ${instead}`,
  };
}
