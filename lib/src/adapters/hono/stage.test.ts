import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Context, Hono } from 'hono';
import type { WorkContext } from '../../seller/index.ts';
import { openStage } from './stage.ts';

type Handle = (c: Context, next: () => Promise<void>) => Promise<unknown>;

/** One request through a middleware and a handler behind it. */
async function through(
  handle: Handle,
  handler: (c: Context) => Response | Promise<Response> = (c) => c.text('sunny'),
  request: Request = new Request('http://inner.example/weather', { method: 'POST', body: 'where?' }),
): Promise<Response> {
  const app = new Hono();
  app.use(async (c, next) => {
    c.header('x-before', '1');
    await next();
    c.header('x-after', '1');
  });
  app.use(async (c, next) => {
    await handle(c, next);
  });
  app.all('*', handler);
  app.onError((fault, c) => c.text(fault.message, 500));
  return app.fetch(request, {});
}

function contextOf(body: string): WorkContext<unknown> {
  const request = {
    method: 'POST',
    url: 'https://api.example.com/weather',
    headers: [['x-tag', 'one']],
    body: new TextEncoder().encode(body),
  };
  return { request, signal: new AbortController().signal } as unknown as WorkContext<unknown>;
}

test('the handlers read the request that was priced, however they read it', async () => {
  const readers: ((c: Context) => Promise<string>)[] = [
    (c) => c.req.text(),
    async (c) => JSON.stringify(await c.req.json()),
    async (c) => Buffer.from(await c.req.arrayBuffer()).toString(),
    (c) => c.req.raw.text(),
    (c) => c.req.raw.clone().text(),
    (c) => c.req.blob().then((blob) => blob.text()),
  ];
  for (const read of readers) {
    const answer = await through(
      async (c, next) => {
        Object.assign(c.req.bodyCache, { text: Promise.resolve('{"stale":1}') });
        const stage = openStage(c);
        await stage.run(contextOf('{"at":"here"}'), next);
      },
      async (c) => c.json([await read(c), c.req.url, c.req.header()]),
    );
    assert.deepEqual(await answer.json(), [
      '{"at":"here"}',
      'https://api.example.com/weather',
      { 'x-tag': 'one' },
    ]);
  }
});

test('what was set before the gate is noted, and noting it begins no response', async () => {
  const answer = await through(async (c, next) => {
    const { before } = openStage(c);
    assert.deepEqual(before, [['x-before', '1']]);
    c.header('x-before', '2');
    assert.deepEqual(before, [['x-before', '1']]);
    await next();
  });
  assert.equal(answer.headers.get('x-before'), '2');
});

test('of what the handlers have set nothing is left when the answer is put in place', async () => {
  const answer = await through(
    async (c, next) => {
      const stage = openStage(c);
      await stage.run(contextOf(''), next);
      stage.show(new Response('pay', { status: 402, headers: { 'x-own': '1' } }));
    },
    (c) => {
      c.header('x-secret', '1');
      c.header('set-cookie', 'a=1');
      return c.text('sunny', 201);
    },
  );
  assert.deepEqual([answer.status, await answer.text()], [402, 'pay']);
  assert.deepEqual(
    ['x-secret', 'set-cookie', 'x-own', 'x-after'].map((name) => answer.headers.get(name)),
    [null, null, '1', '1'],
  );
});

test('handlers that are still running change nothing of the answer', async () => {
  const late = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const answer = await through(
    async (c, next) => {
      const stage = openStage(c);
      const run = stage.run(contextOf(''), next);
      stage.show(new Response('late', { status: 500 }));
      late.resolve();
      await done.promise;
      await run;
    },
    async (c) => {
      await late.promise;
      c.header('x-secret', '1');
      c.res = new Response('sunny');
      done.resolve();
      throw new Error('swordfish');
    },
  );
  assert.deepEqual([answer.status, await answer.text()], [500, 'late']);
  assert.equal(answer.headers.get('x-secret'), null);
});

test('H03: no handler gives the request another method, but it may be replaced as bodies are', async () => {
  const answer = await through(
    async (c, next) => {
      await openStage(c).run(contextOf('hello'), next);
    },
    async (c) => {
      c.req.raw = new Request(c.req.raw, { body: 'HELLO' });
      assert.throws(() => {
        c.req.raw = new Request(c.req.url, { method: 'DELETE' });
      }, /Mount a method override before the payment gate/);
      return c.text(`${c.req.method} ${await c.req.text()}`);
    },
  );
  assert.equal(await answer.text(), 'POST HELLO');
});

/** Where no gate may stand, and what is said of it. */
const mistakes: { readonly [what: string]: readonly [Handle, RegExp] } = {
  'behind another gate': [
    async (c, next) => {
      await openStage(c).run(contextOf(''), next);
      openStage(c);
    },
    /was begun before|one is enough/,
  ],
  'around handlers that say nothing': [
    async (c) => {
      await openStage(c).run(contextOf(''), async () => {});
    },
    /gave no response/,
  ],
  'behind a finished response': [
    async (c) => {
      c.res = new Response('early');
      openStage(c);
    },
    /begun before the payment gate/,
  ],
  'behind a parser': [
    async (c) => {
      await c.req.text();
      openStage(c);
    },
    /body of this request was read/,
  ],
};

for (const [what, [handle, words]] of Object.entries(mistakes)) {
  test(`a gate ${what} is a mistake that says so`, async () => {
    const answer = await through(handle);
    assert.equal(answer.status, 500);
    assert.match(await answer.text(), words);
  });
}
