/** The servers that are compared, and which of them stand beside each other. */
import type { Framework, Variant } from '../server/shop.ts';

const official: readonly Framework[] = ['express', 'hono'];

/** Bare, official and ours of one framework stand together, so that what is compared is measured in one breath. */
export const variants: readonly Variant[] = (['express', 'hono', 'node', 'fetch'] as const).flatMap(
  (framework) => [
    { name: `bare-${framework}`, maker: 'bare', framework, store: 'memory' } as const,
    ...(official.includes(framework)
      ? [{ name: `official-${framework}`, maker: 'official', framework, store: 'memory' } as const]
      : []),
    { name: `ours-${framework}`, maker: 'ours', framework, store: 'memory' } as const,
    ...(framework === 'hono'
      ? [{ name: `ours-${framework}-sqlite`, maker: 'ours', framework, store: 'sqlite' } as const]
      : []),
  ],
);

/** The name of the bare server of a framework. */
export function bareOf(framework: Framework): string {
  return `bare-${framework}`;
}

/** The name of the official server of a framework, where there is one. */
export function officialOf(framework: Framework): string | undefined {
  return official.includes(framework) ? `official-${framework}` : undefined;
}
