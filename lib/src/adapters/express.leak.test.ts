/** Everything that an Express handler can write with, on a response that reaches the buyer when it is paid for. */
import assert from 'node:assert/strict';
import { createReadStream, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import compression from 'compression';
import type { RequestHandler } from 'express';
import methodOverride from 'method-override';
import { paid } from './express.ts';
import { openExpress } from './rig/express.ts';
import { buyHeld, codeOf } from './rig/shop.ts';
import { until } from './rig/wire.ts';

const file = fileURLToPath(import.meta.url);
const text = readFileSync(file, 'latin1');
const packed = [['Accept-Encoding', 'gzip']] as const;

/** The package compression calls no callback of `write` or `end`; a handler that waits for one never ends behind it, gate or not. */
const deaf = 'callbacks that are waited for';

/** Ways to say this file, or `sunny`. */
const ways: { readonly [way: string]: RequestHandler } = {
  write: (_request, response) => {
    response.write('sun');
    response.write('ny');
    response.end();
  },
  'end with a callback': (_request, response) => void response.end('sunny', () => {}),
  [deaf]: async (_request, response) => {
    await new Promise((resolve) => response.write('sun', resolve));
    await new Promise<void>((resolve) => response.end('ny', resolve));
  },
  flushHeaders: (_request, response) => {
    response.flushHeaders();
    response.end('sunny');
  },
  writeHead: (_request, response) => void response.writeHead(200, { 'x-sky': 'clear' }).end('sunny'),
  trailers: (_request, response) => {
    response.writeHead(200, { trailer: 'x-late', 'transfer-encoding': 'chunked' });
    response.write('sunny');
    response.addTrailers({ 'x-late': 'secret' });
    response.end();
  },
  'early hints': (_request, response) => {
    response.writeEarlyHints({ link: '</secret>; rel=preload' });
    response.writeProcessing();
    response.send('sunny');
  },
  'a pipe': (_request, response) => void Readable.from(['sun', 'ny']).pipe(response),
  'a pipeline': (_request, response) => pipeline(createReadStream(file), response),
  sendFile: (_request, response) => response.sendFile(file),
  download: (_request, response) => response.download(file, 'sk\u00ff.txt'),
  json: (_request, response) => void response.json('sunny'),
};

for (const [way, handler] of Object.entries(ways)) {
  test(`H15: not one octet of ${way} leaves before the money has moved`, async (t) => {
    const shop = await openExpress(t, (app, seller, route) =>
      app.get('/weather', paid(seller, route), handler),
    );
    const answer = await buyHeld(shop);
    assert.equal(answer.status, 200);
    assert.ok(['sunny', '"sunny"', text].includes(answer.text));
    for (const name of ['trailer', 'x-late', 'link']) assert.equal(answer.header(name), undefined);
  });

  if (way === deaf) continue;
  test(`H15: behind compression ${way} is sold as it was packed, and not before it is paid for`, async (t) => {
    const shop = await openExpress(t, (app, seller, route) =>
      app.get('/weather', paid(seller, route), compression({ threshold: 0, filter: () => true }), handler),
    );
    const answer = await buyHeld(shop, { headers: packed });
    assert.deepEqual([answer.status, answer.header('content-encoding')], [200, 'gzip']);
    const said = gunzipSync(Buffer.from(answer.text, 'latin1')).toString('latin1');
    assert.ok(['sunny', '"sunny"', text].includes(said));
  });
}

test('H15: compression before the gate leaves a paid answer as it is, and packs nothing before it is paid for', async (t) => {
  const shop = await openExpress(t, (app, seller, route) => {
    app.use(compression({ threshold: 0 }));
    app.get('/weather', paid(seller, route), (_request, response) => void response.send('sunny'));
  });
  const answer = await buyHeld(shop, { headers: packed });
  assert.deepEqual([answer.text, answer.header('content-encoding')], ['sunny', undefined]);
});

/** Ways to fail after something was said. */
const failures: { readonly [way: string]: RequestHandler } = {
  'writeHead(500)': (_request, response) => void response.writeHead(500).end('no'),
  'writeHead(500) after a status of 200': (_request, response) => {
    response.status(200);
    response.writeHead(500).end('no');
  },
  sendStatus: (_request, response) => void response.sendStatus(500),
  'a pipe that breaks': (_request, response) => {
    const broken = new Readable({ read: () => {} });
    broken.push('sun');
    broken.on('error', () => response.destroy());
    broken.pipe(response);
    broken.destroy(new Error('swordfish'));
  },
};

for (const [way, handler] of Object.entries(failures)) {
  test(`H15: a failure by ${way} is not charged for`, async (t) => {
    const shop = await openExpress(t, (app, seller, route) =>
      app.get('/weather', paid(seller, route), handler),
    );
    const answer = await shop.buy();
    assert.equal(answer.status, 500);
    assert.doesNotMatch(answer.text, /sun|swordfish/);
    assert.equal(shop.rig.calls.settle, 0);
  });
}

test('H15: a handler that never ends is aborted at the route’s workMs, though it has begun to write', async (t) => {
  let aborted = 0;
  const shop = await openExpress(
    t,
    (app, seller, route) => {
      const gate = paid(seller, route);
      app.get('/weather', gate, compression({ threshold: 0 }), (request, response) => {
        gate.context(request).signal.addEventListener('abort', () => {
          aborted += 1;
        });
        response.flushHeaders();
        response.write('sun');
      });
    },
    { workMs: 1000 },
  );
  const buying = shop.buy({ headers: packed });
  await until(() => shop.rig.events.some((event) => event.event === 'taken'));
  await shop.rig.clock.advance(1000);
  assert.equal(codeOf(await buying), 'work_failed');
  assert.deepEqual([aborted, shop.rig.calls.settle], [1, 0]);
});

test('H03: method-override before the gate decides what is judged', async (t) => {
  const ran: string[] = [];
  const shop = await openExpress(
    t,
    (app, seller, route) => {
      const gate = paid(seller, route);
      app.use(methodOverride('X-HTTP-Method-Override'));
      app.delete('/weather', gate, (request, response) => {
        ran.push(`${gate.context(request).request.method} ${request.method}`);
        response.send('gone');
      });
    },
    { method: 'DELETE' },
  );
  const headers = [['X-HTTP-Method-Override', 'DELETE']] as const;
  const answer = await shop.buy({ method: 'POST', body: '', headers });
  assert.deepEqual([answer.status, ran, shop.rig.calls.settle], [200, ['DELETE DELETE'], 1]);
});

test('H03: method-override behind the gate fails closed, and nobody is charged', async (t) => {
  const faults: unknown[] = [];
  let runs = 0;
  const shop = await openExpress(
    t,
    (app, seller, route) => {
      app.use('/weather', paid(seller, route), methodOverride('_method'));
      app.all('/weather', (_request, response) => {
        runs += 1;
        response.send('sunny');
      });
      app.use(((fault, _request, response, _next) => {
        faults.push(fault);
        response.status(500).send('sorry');
      }) satisfies import('express').ErrorRequestHandler);
    },
    { method: 'POST' },
  );
  const asked = { method: 'POST', body: '', target: '/weather?_method=DELETE' };
  const answer = await shop.buy(asked);
  assert.deepEqual([answer.status, runs, shop.rig.calls.settle], [500, 0, 0]);
  assert.match(String(faults[0]), /TypeError: .*Mount a method override before the payment gate/);
  assert.equal((await shop.buy({ ...asked, target: '/weather?_method=POST' })).status, 200);
});
