/** The claim stores that are compared, each beside the rawest insert-if-absent of its own database and client. */

export const storeNames = ['memory', 'sqlite', 'redis', 'postgres'] as const;
export type StoreName = (typeof storeNames)[number];

/** Ours, or an insert-if-absent of a key and 200 octets with the same durability. */
export type Kind = 'bare' | 'ours';
export type Contender = { readonly name: string; readonly store: StoreName; readonly kind: Kind };

const kinds: readonly Kind[] = ['bare', 'ours'];

/** Bare and ours stand together, so that what is compared is measured in one breath. */
export function contendersOf(store: StoreName): readonly Contender[] {
  return kinds.map((kind) => ({ name: `${kind}-${store}`, store, kind }));
}

/** Whether several processes can share it. */
export function isShared(store: StoreName): boolean {
  return store !== 'memory';
}

/** Where a contender keeps its claims: a file, a server with a prefix, or a database of its own. */
export type Place = { readonly contender: Contender; readonly at: string; readonly prefix: string };

/** One contender as a process has it open. */
export type Till = {
  /** True where this call won the key. */
  readonly take: (key: string) => Promise<boolean>;
  /** A whole paid request's steps, the key included; true where it was won. */
  readonly pay: (key: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
};
