/** What the applications of the routing tests serve: the same handlers for each, in the same order. */
import type { CatalogueOptions } from '../../seller/index.ts';

/** `priced` handlers have the name of their route; `free` ones are declared free, `unlisted` ones are not declared. */
export type Handler = {
  readonly kind: 'priced' | 'free' | 'unlisted';
  readonly name: string;
  /** `ALL` for a handler that does not look at the method. */
  readonly method: string;
  /** With rests as Express writes them. */
  readonly path: string;
};

/** A route for a catalogue. */
export type Declared = { readonly method: string; readonly path: string; readonly name: string };

/** What is sold, in the order in which it is declared everywhere. */
export const priced: readonly Declared[] = [
  'GET /weather',
  'POST /weather',
  'GET /item/special',
  'GET /item/:id',
  'POST /item/:id',
  'GET /files/*rest',
  'GET /api/report',
  'GET /api/deep/:kind/:label',
  'PUT /Chat/v1.0/Completions',
  'GET /shop/:tenant/till',
  'GET /:page/premium',
].map((name) => {
  const [method = '', path = ''] = name.split(' ');
  return { method, path, name };
});

export const options: Required<CatalogueOptions> = {
  closed: ['/api'],
  free: ['GET /', 'GET /about', 'GET /api/health', 'DELETE /item/:id'],
};

/** Sold for one method, but answered by handlers that would serve every one. */
const careless: ReadonlySet<string> = new Set(['GET /api/report', 'GET /shop/:tenant/till']);

export const handlers: readonly Handler[] = [
  ...priced.map(({ name, method, path }): Handler => {
    return { kind: 'priced', name, method: careless.has(name) ? 'ALL' : method, path };
  }),
  ...options.free.map((name): Handler => {
    const [method = '', path = ''] = name.split(' ');
    return { kind: 'free', name, method, path };
  }),
  { kind: 'unlisted', name: 'secret', method: 'ALL', path: '/api/secret' },
];
