/**
 * Routes that ask for the very same terms: a payment for one fits the other, and nothing that stock clients sign tells
 * them apart (attack B01). They are found at the start and named, refused, or told apart by a few atomic units.
 */
import type { PaymentRequirements } from '../wire/v2.ts';
import type { World } from '../world.ts';

/** A route with the terms of its fixed price. */
export type Priced = {
  readonly name: string;
  readonly requirements: readonly PaymentRequirements[];
  /** Its payments must commit to their request by signature: routes that all do are told apart by that. */
  readonly signed: boolean;
};

/** Names of routes that share network, asset, amount and payTo with each other, at least two. */
export type Siblings = readonly string[];

/** First offsets are spread over so many units; a route beyond takes the next free one. */
const spread = 8;

/** Groups of siblings, in the order of declaration. */
export function findSiblings(routes: readonly Priced[]): readonly Siblings[] {
  const groups = new Map<string, Map<string, Priced>>();
  for (const route of routes) {
    for (const requirement of route.requirements) {
      const key = termsKey(requirement, 0n);
      const group = groups.get(key) ?? new Map<string, Priced>();
      if (!group.has(route.name)) group.set(route.name, route);
      groups.set(key, group);
    }
  }
  const found = [...groups.values()].filter(
    (group) => group.size > 1 && ![...group.values()].every(({ signed }) => signed),
  );
  const named = new Map(found.map((group) => [[...group.keys()].join('\n'), [...group.keys()]]));
  return [...named.values()];
}

/**
 * Atomic units to add to each route's amounts, so that no two siblings ask for the same terms. The first place of a
 * route comes from its name, so that it stays when others come and go; one without siblings keeps its price, and
 * those that are `placed` already keep their place.
 */
export function ditherOffsets(
  routes: readonly Priced[],
  placed: ReadonlyMap<string, bigint>,
  sha256: World['sha256'],
): ReadonlyMap<string, bigint> {
  const crowded = new Set(findSiblings(routes).flat());
  const taken = new Set<string>();
  const offsets = new Map<string, bigint>();
  const place = (route: Priced, offset: bigint): void => {
    for (const requirement of route.requirements) taken.add(termsKey(requirement, offset));
    offsets.set(route.name, offset);
  };
  const occupied = ({ requirements }: Priced, offset: bigint): boolean =>
    requirements.some((requirement) => taken.has(termsKey(requirement, offset)));
  const moved = routes.filter(({ name }) => (placed.get(name) ?? 0n) > 0n);
  for (const route of moved) place(route, placed.get(route.name) ?? 0n);
  const others = routes.filter((route) => !moved.includes(route));
  // Routes that all commit by signature may share their terms, so these are no obstacles to each other.
  const still = others.filter(
    (route) => placed.has(route.name) || (!crowded.has(route.name) && !occupied(route, 0n)),
  );
  for (const route of still) place(route, 0n);
  const waiting = others.filter((route) => !still.includes(route));
  for (const route of waiting.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    let offset = BigInt((sha256(encoder.encode(route.name))[0] ?? 0) % spread);
    while (occupied(route, offset)) offset += 1n;
    place(route, offset);
  }
  return offsets;
}

const encoder = new TextEncoder();

/** The same entries with an offset on every amount. */
export function withOffset(
  requirements: readonly PaymentRequirements[],
  offset: bigint,
): readonly PaymentRequirements[] {
  if (offset === 0n) return requirements;
  return Object.freeze(
    requirements.map((requirement) => Object.freeze({ ...requirement, amount: requirement.amount + offset })),
  );
}

function termsKey({ network, asset, amount, payTo }: PaymentRequirements, offset: bigint): string {
  return `${network}/${asset}/${payTo}/${amount + offset}`;
}
