import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { createDigestSigner } from './crypto/secp256k1.ts';
import type { System, SystemOptions } from './system.ts';
import { createSystem } from './system.ts';
import type { HttpRequest } from './world.ts';

const run = promisify(execFile);

async function openSystem(t: TestContext, options: SystemOptions = {}): Promise<System> {
  const system = await createSystem(options);
  t.after(() => system.close());
  return system;
}

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function get(url: string, change: Partial<HttpRequest> = {}): HttpRequest {
  return { method: 'GET', url, headers: {}, timeoutMs: 5_000, maxBytes: 1_000, ...change };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

test('a text sealed by the cipher opens only unchanged, with its key and with what it is bound to', async (t) => {
  const { cipher } = await openSystem(t);
  const [key, nonce] = [new Uint8Array(32).fill(1), new Uint8Array(12).fill(2)];
  const [plain, bound] = [new TextEncoder().encode('paid'), Uint8Array.of(9)];
  const sealed = cipher.seal({ key, nonce, plain, bound });
  assert.equal(sealed.length, plain.length + 16);
  assert.deepEqual(cipher.open({ key, nonce, sealed, bound }), plain);
  assert.equal(cipher.open({ key: key.with(0, 0), nonce, sealed, bound }), undefined);
  assert.equal(cipher.open({ key, nonce: nonce.with(0, 0), sealed, bound }), undefined);
  assert.equal(cipher.open({ key, nonce, sealed, bound: new Uint8Array() }), undefined);
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed.with(at, (sealed[at] ?? 0) ^ 1);
    assert.equal(cipher.open({ key, nonce, sealed: changed, bound }), undefined);
    assert.equal(cipher.open({ key, nonce, sealed: sealed.subarray(0, at), bound }), undefined);
  }
});

test('hash, random and clocks are the platform’s', async (t) => {
  const system = await openSystem(t);
  const bytes = new TextEncoder().encode('x');
  assert.deepEqual(system.sha256(bytes), new Uint8Array(createHash('sha256').update(bytes).digest()));
  assert.equal(system.random(100_000).length, 100_000);
  assert.notDeepEqual(system.random(32), system.random(32));
  const earlier = Date.now();
  const now = system.nowMs();
  assert.ok(earlier <= now && now <= Date.now());
  const before = system.monotonicMs();
  assert.ok(before <= system.monotonicMs());
});

test('a timer runs once, can be called off, and waits no longer than a timer can', async (t) => {
  const system = await openSystem(t);
  // Unreferenced timers do not keep the test alive, so something else has to.
  const alive = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(alive));
  let called = 0;
  system.after(0, () => (called += 1)).cancel();
  await new Promise<void>((resolve) => system.after(1, resolve));
  assert.equal(called, 0);
  for (const delay of [-1, 2 ** 31, Number.NaN])
    assert.throws(() => system.after(delay, () => {}), RangeError);
});

test('an option that does not exist, and a scheme that is not http, are programming mistakes', async (t) => {
  await assert.rejects(createSystem({ timeout: 1 } as never), { name: 'TypeError', message: /"timeout"/ });
  const { http } = await openSystem(t);
  await assert.rejects(http(get('file:///etc/hostname')), TypeError);
  await assert.rejects(http(get('nonsense')), TypeError);
});

test('a request arrives as it was given, and its answer is read in full', async (t) => {
  const url = await serve(t, async (request, response) => {
    response.writeHead(201, { 'X-Answer': ['a', 'b'], 'content-type': 'text/plain' });
    response.end([request.method, request.url, request.headers['x-ask'], await bodyOf(request)].join(' '));
  });
  const { http } = await openSystem(t);
  const body = new TextEncoder().encode('{"paid":true}');
  const answer = await http(get(`${url}/settle?x=1`, { method: 'POST', headers: { 'x-ask': 'q' }, body }));
  assert.ok(answer.ok);
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get('x-answer'), 'a, b');
  assert.equal(new TextDecoder().decode(answer.body), 'POST /settle?x=1 q {"paid":true}');
});

test('a redirect is returned as it came and never followed', async (t) => {
  const paths: unknown[] = [];
  const url = await serve(t, (request, response) => {
    paths.push(request.url);
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  const { http } = await openSystem(t);
  const answer = await http(get(`${url}/settle`));
  assert.ok(answer.ok && answer.status === 307 && answer.headers.get('location') === '/elsewhere');
  assert.deepEqual(paths, ['/settle']);
});

test('connections are kept and used again', async (t) => {
  const sockets = new Set<unknown>();
  const url = await serve(t, (request, response) => {
    sockets.add(request.socket);
    response.end('x');
  });
  const { http } = await openSystem(t);
  for (let count = 0; count < 10; count++) assert.ok((await http(get(url))).ok);
  // undici gives a connection back one turn of the event loop after its answer, so a second one may be opened.
  assert.ok(sockets.size <= 2, `${sockets.size} connections`);
});

test('P04: a long answer is cut off, announced or not, plain or compressed', async (t) => {
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/announced': (response) => response.end(Buffer.alloc(1_001)),
    '/endless': (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(700)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    },
    '/bomb': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    '/full': (response) => response.end(Buffer.alloc(1_000)),
    '/gzip': (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000))),
    '/garbage': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
    '/strange': (response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end('x'),
  };
  const url = await serve(t, (request, response) => answers[request.url ?? '']?.(response));
  const { http } = await openSystem(t);
  for (const path of ['/announced', '/endless', '/bomb']) {
    const maxBytes = path === '/bomb' ? bomb.length : 1_000;
    const answer = await http(get(url + path, { maxBytes }));
    assert.deepEqual(answer, { ok: false, sent: true, why: 'too_large' }, path);
  }
  for (const path of ['/full', '/gzip']) {
    const answer = await http(get(url + path));
    assert.equal(answer.ok && answer.body.length, 1_000, path);
  }
  for (const path of ['/garbage', '/strange']) {
    assert.deepEqual(await http(get(url + path)), { ok: false, sent: true, why: 'reset' }, path);
  }
});

test('nothing was sent where no connection came to stand', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  await promisify(closed.close.bind(closed))();
  const { http } = await openSystem(t);
  const refused = await http(get(`http://127.0.0.1:${port}/`, { method: 'POST', body: Uint8Array.of(1) }));
  assert.deepEqual(refused, { ok: false, sent: false, why: 'connect' });

  const plain = await serve(t, (_request, response) => response.end());
  const noTls = await http(get(plain.replace('http:', 'https:')));
  assert.deepEqual(noTls, { ok: false, sent: false, why: 'connect' });
});

test('nothing was sent to a server that never finishes its TLS handshake', async (t) => {
  const silent = createTcpServer().listen(0, '127.0.0.1');
  const sockets: { destroy: () => void }[] = [];
  silent.on('connection', (socket) => sockets.push(socket.on('error', () => {})));
  await once(silent, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const impatient = await openSystem(t, { connectTimeoutMs: 50 });
  assert.deepEqual(await impatient.http(get(url)), { ok: false, sent: false, why: 'connect' });
  const patient = await openSystem(t);
  const late = await patient.http(get(url, { timeoutMs: 50 }));
  assert.deepEqual(late, { ok: false, sent: false, why: 'timeout' });
});

test('F03: silence after the request was written is never taken for not sent', async (t) => {
  let arrived = 0;
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/reset': (response) => response.destroy(),
    '/half': (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => response.destroy());
    },
    '/silent': () => {},
    '/slow': (response) => response.writeHead(200).write('a'),
  };
  const url = await serve(t, (request, response) => {
    arrived += 1;
    answers[request.url ?? '']?.(response);
  });
  const { http } = await openSystem(t);
  for (const [path, why] of [
    ['/reset', 'reset'],
    ['/half', 'reset'],
    ['/silent', 'timeout'],
    ['/slow', 'timeout'],
  ] as const) {
    const request = get(url + path, {
      method: 'POST',
      body: Uint8Array.of(1),
      timeoutMs: why === 'timeout' ? 500 : 5_000,
    });
    assert.deepEqual(await http(request), { ok: false, sent: true, why }, path);
  }
  assert.equal(arrived, 4, 'no request was sent a second time');
});

test('a kept connection that breaks under a request counts as sent, and the request is not repeated', async (t) => {
  let arrived = 0;
  const url = await serve(t, (request, response) => {
    arrived += 1;
    if (request.url === '/first') response.end('x');
    else request.socket.destroy();
  });
  const { http } = await openSystem(t);
  assert.ok((await http(get(`${url}/first`))).ok);
  for (const method of ['GET', 'POST'] as const) {
    assert.deepEqual(await http(get(`${url}/second`, { method })), { ok: false, sent: true, why: 'reset' });
  }
  assert.equal(arrived, 3);
});

test('an idle connection that the other side has dropped is replaced before anything is sent', async (t) => {
  const sockets = new Set<Socket>();
  let arrived = 0;
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('data', () => {
      arrived += 1;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { http } = await openSystem(t);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (let round = 0; round < 30; round += 1) {
    assert.ok((await http(get(url, { method: 'POST' }))).ok);
    // Until the connection is idle.
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  }
  assert.equal(arrived, 30);
});

test('an abort before the request says not sent, one during it says sent', async (t) => {
  const begun = Promise.withResolvers<void>();
  const url = await serve(t, () => begun.resolve());
  const { http } = await openSystem(t);
  const early = await http(get(url, { signal: AbortSignal.abort() }));
  assert.deepEqual(early, { ok: false, sent: false, why: 'aborted' });
  const controller = new AbortController();
  const pending = http(get(url, { signal: controller.signal }));
  await begun.promise;
  controller.abort();
  assert.deepEqual(await pending, { ok: false, sent: true, why: 'aborted' });
});

test('a request that gave up while it waited for a connection is never sent afterwards', async (t) => {
  const paths: unknown[] = [];
  const begun = Promise.withResolvers<ServerResponse>();
  const url = await serve(t, (request, response) => {
    paths.push(request.url);
    if (request.url === '/slow') begun.resolve(response);
    else response.end();
  });
  const { http } = await openSystem(t, { connections: 1 });
  const slow = http(get(`${url}/slow`));
  const response = await begun.promise;
  const waiting = await http(get(`${url}/waiting`, { method: 'POST', timeoutMs: 30 }));
  assert.deepEqual(waiting, { ok: false, sent: false, why: 'timeout' });
  response.end();
  assert.ok((await slow).ok);
  assert.ok((await http(get(`${url}/after`))).ok);
  assert.deepEqual(paths, ['/slow', '/after']);
});

test('a closed system sends nothing', async (t) => {
  let arrived = 0;
  const url = await serve(t, (_request, response) => {
    arrived += 1;
    response.end();
  });
  const system = await createSystem();
  await system.close();
  assert.deepEqual(await system.http(get(url)), { ok: false, sent: false, why: 'connect' });
  assert.equal(arrived, 0);
});

test('native, wasm and noble recover the same key, or all three none', async (t) => {
  const systems = await Promise.all(
    (['native', 'wasm', 'noble'] as const).map((secp256k1) => openSystem(t, { secp256k1 })),
  );
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const compare = (digest: Uint8Array, signature: Uint8Array, recovery: number): Uint8Array | undefined => {
    const [first, ...others] = systems.map(({ recover }) => recover({ digest, signature, recovery }));
    for (const other of others) assert.deepEqual(other, first);
    return first;
  };
  await fc.assert(
    fc.asyncProperty(
      bytes32,
      bytes32,
      bytes32,
      fc.constantFrom(0, 1),
      async (key, digest, noise, recovery) => {
        const signed = await createDigestSigner(Uint8Array.of(1, ...key.subarray(1))).signDigest(digest);
        assert.ok(compare(digest, signed.slice(0, 64), (signed[64] ?? 0) - 27));
        compare(digest, Uint8Array.of(...noise, ...key), recovery);
      },
    ),
    { numRuns: 20 },
  );
  const edge = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.padStart(64, '0'), 'hex'));
  const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';
  for (const r of ['0', '1', '5', order, 'ff'.repeat(32)]) {
    for (const s of ['0', '1', order]) compare(edge('1'), Uint8Array.of(...edge(r), ...edge(s)), 0);
  }
  for (const { recover } of systems) {
    assert.equal(recover({ digest: edge('1'), signature: new Uint8Array(63), recovery: 0 }), undefined);
    assert.equal(
      recover({ digest: new Uint8Array(31), signature: new Uint8Array(64), recovery: 0 }),
      undefined,
    );
  }
});

/** Starts a process in which some packages are missing, and tells what was loaded all the same. */
async function inProcess(
  missing: readonly string[],
  work: string,
): Promise<{ result: string; loaded: string[] }> {
  const script = `
    import Module, { registerHooks } from 'node:module';
    const loaded = [];
    const refuse = (name) => {
      if (${JSON.stringify(missing)}.some((gone) => name === gone || name.startsWith(gone + '/'))) {
        throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' });
      }
    };
    // Node 22 does not ask the hooks about a require inside a package that was imported.
    const load = Module._load;
    Module._load = function (name, parent, ...rest) {
      refuse(name);
      if (!Module.isBuiltin(name)) loaded.push('file://' + Module._resolveFilename(name, parent));
      return Reflect.apply(load, this, [name, parent, ...rest]);
    };
    registerHooks({
      resolve(name, context, next) {
        refuse(name);
        const found = next(name, context);
        loaded.push(found.url);
        return found;
      },
    });
    const { createSystem } = await import(${JSON.stringify(new URL('./system.ts', import.meta.url).href)});
    const result = await (async () => { ${work} })();
    console.log(JSON.stringify({ result, loaded }));`;
  const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
  });
  return JSON.parse(stdout);
}

const whichOne = 'const s = await createSystem(); await s.close(); return s.secp256k1InUse;';

test('whatever is installed, the best secp256k1 is taken and elliptic is never loaded', async () => {
  for (const [missing, expected] of [
    [[], 'native'],
    [['secp256k1'], 'wasm'],
    [['node-gyp-build'], 'wasm'],
    [['secp256k1', 'tiny-secp256k1'], 'noble'],
  ] as const) {
    const { result, loaded } = await inProcess(missing, whichOne);
    assert.equal(result, expected);
    assert.deepEqual(
      loaded.filter((url) => url.includes('elliptic')),
      [],
    );
  }
});

test('the watch over loaded files would see elliptic, which the package’s own index falls back to', async () => {
  const { loaded } = await inProcess(['node-gyp-build'], "await import('secp256k1'); return 'x';");
  assert.ok(loaded.some((url) => url.includes('/node_modules/elliptic/')));
});

test('a wanted secp256k1 that does not load is an error, not another one', async () => {
  const work = "return createSystem({ secp256k1: 'native' }).catch((error) => error.message);";
  const { result } = await inProcess(['secp256k1'], work);
  assert.match(result, /native secp256k1 does not load/);
});

test('a missing undici is named with the line that installs it', async () => {
  const { result } = await inProcess(['undici'], 'return createSystem().catch((error) => error.message);');
  assert.match(result, /npm install undici@8/);
});

test('random octets that are drawn in bulk are given out once', async (t) => {
  const system = await createSystem();
  t.after(() => system.close());
  const seen = new Set<string>();
  for (let at = 0; at < 2_000; at += 1) seen.add(Buffer.from(system.random(16)).toString('hex'));
  assert.equal(seen.size, 2_000);
  for (const length of [0, 1, 4_095, 4_096, 4_097, 70_000])
    assert.equal(system.random(length).length, length);
  // A taken octet is a copy: whoever changes it changes nothing of what comes next.
  const drawn = system.random(4_096);
  drawn.fill(0);
  assert.ok(system.random(4_096).some((octet) => octet !== 0));
});
