/**
 * Every route that a seller has declared: who shares terms with whom (attack B01), and who must be asked by the
 * start-up self-test.
 */
import { succeed } from '../problem.ts';
import { ditherOffsets, findSiblings, type Priced, type Quote, withOffset } from '../terms/index.ts';
import type { PaymentRequirements } from '../wire/v2.ts';
import type { World } from '../world.ts';
import type { SellerEvent } from './event.ts';

/**
 * What becomes of routes that ask for the same terms: they are named once at the start, refused as they are declared,
 * or told apart by a few atomic units on the price.
 */
export type SiblingPolicy = 'warn' | 'refuse' | 'dither';

/** What depends on the request can be shortened in many ways; nobody reads more of them. */
const maxAnnounced = 10_000;

/** What the roster keeps of a route. */
export type Declared = {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly signed: boolean;
};

export type Roster = {
  /** Notes a route; `fixed` are its terms where its price does not depend on the request. */
  readonly declare: (route: Declared, fixed: readonly PaymentRequirements[] | undefined) => void;
  /** The price of a declared route whose terms are fixed. */
  readonly fixedQuote: (name: string, fixed: readonly PaymentRequirements[]) => Quote<unknown>;
  readonly routes: () => readonly Declared[];
  /** Tells the observer of siblings that are not told apart; once for each group. */
  readonly announce: () => void;
  /** Tells the observer what was left out of a route's 402; once for each route and choice. */
  readonly noteShortened: (route: string, fields: readonly string[]) => void;
};

/** An empty roster. */
export function createRoster(options: {
  readonly policy: SiblingPolicy;
  readonly sha256: World['sha256'];
  readonly observe: (event: SellerEvent) => void;
}): Roster {
  const { policy, sha256, observe } = options;
  const declared: Declared[] = [];
  const priced: Priced[] = [];
  const announced = new Set<string>();
  let offsets: ReadonlyMap<string, bigint> = new Map();

  /** Places are given at the first question, when as a rule every route is known; a later route takes what is left. */
  const offsetOf = (name: string): bigint => {
    if (!offsets.has(name)) offsets = ditherOffsets(priced, offsets, sha256);
    return offsets.get(name) ?? 0n;
  };
  return {
    declare: (route, fixed) => {
      if (fixed !== undefined) {
        const entry = { name: route.name, requirements: fixed, signed: route.signed };
        const alike = policy === 'refuse' ? findSiblings([...priced, entry]) : [];
        const group = alike.find((names) => names.includes(route.name));
        if (group !== undefined) {
          throw new TypeError(
            `${group.join(' and ')} ask for the same terms, so that a payment for one fits the other. Give them other prices, bind them ("required"), or set siblings to "warn" or "dither".`,
          );
        }
        priced.push(entry);
      }
      declared.push(route);
    },
    fixedQuote: (name, fixed) => {
      if (policy !== 'dither') {
        const quoted = succeed(fixed);
        return () => quoted;
      }
      let quoted: ReturnType<Quote<unknown>> | undefined;
      return () => {
        quoted ??= succeed(withOffset(fixed, offsetOf(name)));
        return quoted;
      };
    },
    routes: () => declared,
    announce: () => {
      if (policy !== 'warn') return;
      for (const routes of findSiblings(priced)) {
        const name = routes.join('\n');
        if (!announced.has(name)) observe({ event: 'siblings', routes });
        announced.add(name);
      }
    },
    noteShortened: (route, fields) => {
      const name = [route, ...fields].join('\n');
      if (announced.size > maxAnnounced || announced.has(name)) return;
      announced.add(name);
      observe({ event: 'shortened', route, fields });
    },
  };
}
