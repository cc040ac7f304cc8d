import type { CatalogueOptions } from '../seller/index.ts';

/** A name that nobody reads would be a protection that is not there. */
export function checkNames(what: string, options: object, names: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new TypeError(`${what} has no option "${name}".`);
  }
}

/** Behind a middleware whatever it lets pass is answered by the application, so how much that is must be said. */
export type GateCatalogueOptions = CatalogueOptions & { readonly closed: readonly string[] };

/** Fails where nobody has said what is closed: a path that was declared with a slip would be free without a word. */
export function checkClosed(options: { readonly closed?: unknown } | undefined): void {
  if (!Array.isArray(options?.closed)) {
    throw new TypeError(
      'paidRoutes needs closed: the prefixes under which nothing passes unpaid but what free lists, such as ["/"], or [] where everything that is not listed is free.',
    );
  }
}
