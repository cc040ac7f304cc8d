/**
 * What a page of another origin may do here (H02). Unless a seller names origins, a browser gets no answer that it may
 * read, and so no prices; a preflight is answered in any case without the handler and without a payment.
 */
import type { Answer, HeaderList } from './message.ts';

export type CorsOptions = {
  /** Origins whose pages may buy, as `https://app.example.com`, or `*` for every page. */
  readonly origins: readonly string[] | '*';
  /** How long a browser may remember a preflight; default 600 s. */
  readonly maxAgeSeconds?: number;
};

export type Cors = {
  /** Fields for an answer to a request with these. */
  readonly fieldsFor: (headers: HeaderList) => HeaderList;
  readonly maxAgeSeconds: number;
};

const optionNames: ReadonlySet<string> = new Set(['origins', 'maxAgeSeconds']);
/** Browsers cap it at 7,200 to 86,400 s themselves. */
const longestAgeSeconds = 86_400;
/** Names that a page asks to send; more is no honest page. */
const maxRequested = 1024;

/** Checks the option; a mistake is a TypeError. */
export function createCors(options: CorsOptions = { origins: [] }): Cors {
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) throw new TypeError(`cors has no option "${name}".`);
  }
  const { origins, maxAgeSeconds = 600 } = options;
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 0 || maxAgeSeconds > longestAgeSeconds) {
    throw new TypeError(`cors.maxAgeSeconds must be a whole number up to ${longestAgeSeconds}.`);
  }
  if (origins === '*') return { maxAgeSeconds, fieldsFor: () => [['access-control-allow-origin', '*']] };
  for (const origin of origins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new TypeError(`cors.origins names origins like https://app.example.com, not "${origin}".`);
    }
  }
  const allowed = new Set(origins);
  if (allowed.size === 0) return { maxAgeSeconds, fieldsFor: () => [] };
  return {
    maxAgeSeconds,
    fieldsFor: (headers) => {
      const origin = headers.find(([name]) => name === 'origin')?.[1];
      // A cache must not give one page's answer to another's, and so even a page that is not allowed is named.
      const vary: HeaderList = [['vary', 'Origin']];
      return origin !== undefined && allowed.has(origin)
        ? [['access-control-allow-origin', origin], ...vary]
        : vary;
    },
  };
}

/** What a browser is told that it may send: what it asked for, as far as those are names, and the payment. */
export function preflightFields(cors: Cors, method: string, headers: HeaderList): HeaderList {
  const asked = headers.find(([name]) => name === 'access-control-request-headers')?.[1] ?? '';
  const names = asked.length > maxRequested ? [] : asked.split(',').map((name) => name.trim().toLowerCase());
  const tokens = names.filter((name) => /^[a-z0-9-]+$/.test(name) && name !== 'payment-signature');
  return [
    ['access-control-allow-methods', method],
    ['access-control-allow-headers', ['PAYMENT-SIGNATURE', ...tokens].join(', ')],
    ['access-control-max-age', String(cors.maxAgeSeconds)],
  ];
}

/** The answer with the fields of its request's origin. */
export function withCors(answer: Answer, fields: HeaderList): Answer {
  if (fields.length === 0) return answer;
  const vary = fields.find(([name]) => name === 'vary')?.[1];
  const own = answer.headers.filter(([name]) => name !== 'access-control-allow-origin');
  const headers = own.map(([name, value]): readonly [string, string] =>
    name === 'vary' && vary !== undefined ? [name, `${value}, ${vary}`] : [name, value],
  );
  return { ...answer, headers: [...headers, ...fields.filter(([name]) => name !== 'vary')] };
}
