/**
 * A day at a shop behind a cache: buyers and strangers ask for the same few things in turn, in every way that a cache
 * could answer by itself. Told afterwards: what a stranger got of what was sold, and which buyer did not get its own.
 */
import type { Luck } from '../../../test/luck.ts';
import type { Asked, Received } from './wire.ts';

type Fields = readonly (readonly [string, string])[];

/** One thing on sale. */
type Article = { readonly target: string; readonly status: number; readonly headers: Fields };

const forever = 'Thu, 01 Jan 2099 00:00:00 GMT';
const past = 'Thu, 01 Jan 2015 00:00:00 GMT';

/** What handlers say who were never told that their answers are sold. */
const invitations: readonly Fields[] = [
  [['cache-control', 'public, s-maxage=600']],
  [['x-accel-expires', '600']],
  [['expires', forever]],
  [
    ['surrogate-control', 'max-age=600'],
    ['cdn-cache-control', 'public, max-age=600'],
  ],
  [
    ['etag', '"one"'],
    ['last-modified', past],
    ['cache-control', 'max-age=600, immutable'],
  ],
  [
    ['vary', '*'],
    ['cache-control', 'public, max-age=600'],
  ],
  [
    ['vary', 'accept-encoding'],
    ['cache-control', 'public'],
    ['cache-control', 'max-age=600'],
    ['x-accel-expires', '@4000000000'],
    ['expires', forever],
    ['etag', '"one"'],
    ['last-modified', past],
  ],
];

/** Few, so that each is asked for again and again. */
const articles: readonly Article[] = invitations.flatMap((headers, at) =>
  [200, 206, 404, 500].map((status) => ({ target: `/weather?as=${at}.${status}`, status, headers })),
);

/** What is bought at a URL or target, for the buyer of that name. */
export function sold(
  url: string,
  buyer: string,
): { readonly status: number; readonly headers: Fields; readonly text: string } {
  const article = articles.find(({ target }) => url.endsWith(target));
  if (article === undefined) throw new Error(`nothing is sold at ${url}`);
  return {
    status: article.status,
    headers: [...article.headers, ['x-sold-to', buyer]],
    text: `sold to ${buyer}`,
  };
}

/** Questions that a cache may answer from what it has. */
const questions: readonly Fields[] = [
  [],
  [],
  [['If-None-Match', '"one"']],
  [['If-None-Match', '*']],
  [['If-Modified-Since', forever]],
  [['Range', 'bytes=0-6']],
  [
    ['If-Range', '"one"'],
    ['Range', 'bytes=0-6'],
  ],
  [['Cache-Control', 'max-stale=31536000']],
];

type Step = {
  readonly who: 'stranger' | 'buyer';
  readonly article: Article;
  readonly asked: Asked;
  /** A buyer asks once more with the same payment. */
  readonly again: boolean;
};

export type Tally = {
  readonly strangers: number;
  readonly buyers: number;
  /** What requests without a payment got beside a 402. */
  readonly leaks: readonly string[];
  /** What buyers got who did not get their own. */
  readonly cheated: readonly string[];
};

export type Traffic = {
  readonly luck: Luck;
  readonly requests: number;
  /** Through the cache. */
  readonly ask: (asked: Asked) => Promise<Received>;
  /** A payment for a target. */
  readonly payment: (target: string) => Promise<string>;
};

/** Some at a time, as a cache that collapses requests would like it. */
const lanes = 4;

/** Sends so many requests, a quarter of them paid. */
export async function sendTraffic(traffic: Traffic): Promise<Tally> {
  const steps = Array.from({ length: traffic.requests }, () => chooseStep(traffic.luck));
  const leaks: string[] = [];
  const cheated: string[] = [];
  let next = 0;
  const walk = async (): Promise<void> => {
    for (let at = next++; at < steps.length; at = next++) {
      const step = steps[at];
      if (step?.who === 'stranger') leaks.push(...(await visit(traffic, step)));
      if (step?.who === 'buyer') cheated.push(...(await buy(traffic, step, `buyer ${at}`)));
    }
  };
  await Promise.all(Array.from({ length: lanes }, walk));
  const strangers = steps.filter(({ who }) => who === 'stranger').length;
  return { strangers, buyers: steps.length - strangers, leaks, cheated };
}

function chooseStep(luck: Luck): Step {
  const article = luck.pick(articles);
  const who = luck.chance(1 / 4) ? 'buyer' : 'stranger';
  const method = luck.chance(0.15) ? 'HEAD' : 'GET';
  // What failed was not charged for, and asking again would be another attempt at the work.
  const again = method === 'GET' && article.status < 400 && luck.chance(0.2);
  return { who, article, again, asked: { method, target: article.target, headers: luck.pick(questions) } };
}

async function visit({ ask }: Traffic, { asked }: Step): Promise<readonly string[]> {
  const answer = await ask(asked);
  const got = /sold/.test(answer.text) || answer.header('x-sold-to') !== undefined;
  return got || answer.status !== 402 ? [tell(asked, answer)] : [];
}

/** A buyer names itself, so that the answer shows whose it is. */
async function buy({ ask, payment }: Traffic, step: Step, name: string): Promise<readonly string[]> {
  const own: Fields = [
    ['X-Buyer', name],
    ['PAYMENT-SIGNATURE', await payment(step.article.target)],
  ];
  const asked = { ...step.asked, headers: [...(step.asked.headers ?? []), ...own] };
  const first = await ask(asked);
  const answers = step.again ? [first, await ask(asked)] : [first];
  return answers.filter((answer) => !isOwn(step, answer, name)).map((answer) => tell(step.asked, answer));
}

/** A cache may have asked for the whole where its client asked for the head. */
function isOwn({ article, asked }: Step, answer: Received, name: string): boolean {
  if (asked.method === 'HEAD' && answer.status === 405) return true;
  const named =
    asked.method === 'HEAD' ? answer.header('x-sold-to') === name : answer.text === `sold to ${name}`;
  return answer.status === article.status && named;
}

function tell(asked: Asked, answer: Received): string {
  const fields = (asked.headers ?? []).map((field) => field.join(': ')).join(', ');
  return `${asked.method} ${asked.target} (${fields}) -> ${answer.status} ${answer.text}`;
}
