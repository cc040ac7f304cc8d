/** What a server of the comparison is told, and what it gives back: one listener for node:http. */
import type { RequestListener } from 'node:http';
import { readNumber, readObject, readText, readTexts } from '../process/read.ts';
import type { Goods, Work } from './goods.ts';

export const frameworks = ['node', 'fetch', 'express', 'hono'] as const;
export type Framework = (typeof frameworks)[number];

export const makers = ['bare', 'official', 'ours'] as const;
/** Who guards the route: nobody, the official package, or this library. */
export type Maker = (typeof makers)[number];

/** One server of the comparison. */
export type Variant = {
  readonly name: string;
  readonly maker: Maker;
  readonly framework: Framework;
  /** Where ours keeps its claims; the others keep none. */
  readonly store: 'memory' | 'sqlite';
};

export type Order = {
  readonly variant: Variant;
  readonly goods: Goods;
  /** A facilitator over HTTP; in the server's own process without. */
  readonly facilitatorUrl?: string;
  /** A folder for what must be on a disk; removed by whoever made it. */
  readonly folder: string;
};

/** What a maker needs to open a shop. */
export type Premises = Order & { readonly work: Work; readonly origin: string };

export type Shop = {
  readonly listener: RequestListener;
  /** One read of the claim store, where there is one. */
  readonly storeRoundTrip?: () => Promise<unknown>;
  readonly close: () => Promise<void>;
};

/** Reads an order that came from the parent. */
export function readOrder(input: unknown): Order {
  const order = readObject(input, 'order');
  const variant = readObject(order.variant, 'variant');
  const goods = readObject(order.goods, 'goods');
  return {
    variant: {
      name: readText(variant, 'name'),
      maker: oneOf(makers, readText(variant, 'maker')),
      framework: oneOf(frameworks, readText(variant, 'framework')),
      store: oneOf(['memory', 'sqlite'] as const, readText(variant, 'store')),
    },
    goods: {
      pattern: readText(goods, 'pattern'),
      paths: readTexts(goods, 'paths'),
      workMs: readNumber(goods, 'workMs'),
    },
    ...(order.facilitatorUrl === undefined ? {} : { facilitatorUrl: readText(order, 'facilitatorUrl') }),
    folder: readText(order, 'folder'),
  };
}

function oneOf<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text);
  if (found === undefined) throw new TypeError(`${text} is none of ${words.join(', ')}`);
  return found;
}
