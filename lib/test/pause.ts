/** A process that stands still, as under SIGSTOP: one of its calls is held before it reaches its target or after. */

export type Pause<T> = {
  /** The target as the process sees it. */
  readonly target: T;
  /** Resolves when the process stands still. */
  readonly reached: Promise<void>;
  readonly resume: () => void;
};

/** Holds the first call of `method`: `before` it does anything, or `after` it was done and before its answer is heard. */
export function pauseAt<T extends object>(
  target: T,
  method: keyof T & string,
  when: 'before' | 'after',
): Pause<T> {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  const proxy = new Proxy(target, {
    get: (object, name) => {
      const value: unknown = Reflect.get(object, name);
      if (name !== method || typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        calls += 1;
        if (calls > 1) return value.apply(object, args);
        const answer: unknown = when === 'after' ? await value.apply(object, args) : undefined;
        reached.resolve();
        await gate.promise;
        return when === 'after' ? answer : value.apply(object, args);
      };
    },
  });
  return { target: proxy, reached: reached.promise, resume: gate.resolve };
}
