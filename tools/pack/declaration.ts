/**
 * The compiler rewrites `./x.ts` to `./x.js` in JavaScript and leaves it in declarations. Newer compilers find the
 * declaration all the same; older ones and other tools look for a source that is not in the package.
 */

/** A relative module name in an import, an export or an import type; the name without its ending is kept. */
const specifier = /((?:\bfrom|\bimport|\bimport\()\s*['"])(\.{1,2}\/[^'"]+)\.(m?)ts(?=['"])/g;

/** The text of a declaration file with its relative modules named as JavaScript. */
export function nameJavaScript(declaration: string): string {
  return declaration.replace(specifier, '$1$2.$3js');
}
