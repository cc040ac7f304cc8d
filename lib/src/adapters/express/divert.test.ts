import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { createDiversion, readers, settings, states, writers } from './divert.ts';

function pair(): { readonly real: ServerResponse; readonly target: ServerResponse } {
  const request = new IncomingMessage(new Socket());
  return { real: new ServerResponse(request), target: new ServerResponse(request) };
}

/** Public names that stay with the real response, and why that lets nothing out. */
const left: { readonly [name: string]: string } = {
  assignSocket: 'Node joins a response to its connection when its turn has come',
  detachSocket: 'the same',
  emit: 'Node reports through the real response',
  getMaxListeners: 'a number',
  pipe: 'throws on every response',
  setMaxListeners: 'a number',
  writableHighWaterMark: 'a number',
  writableObjectMode: 'a constant',
};

test('H15: everything public that Node’s response can do is diverted, or known to let nothing out', () => {
  const names = new Set<string>();
  for (
    let level: unknown = ServerResponse.prototype;
    typeof level === 'object' && level !== null && level !== Object.prototype;
    level = Object.getPrototypeOf(level)
  ) {
    for (const name of Object.getOwnPropertyNames(level)) names.add(name);
  }
  const known = new Set<string>([
    'constructor',
    ...writers,
    ...readers,
    ...settings,
    ...states,
    ...Object.keys(left),
  ]);
  assert.deepEqual(
    [...names].filter((name) => !name.startsWith('_') && !known.has(name)),
    [],
  );
});

test('whoever holds the response writes to the target, and the real one is as it was when it is given back', () => {
  const { real, target } = pair();
  real.setHeader('x-before', '1');
  const own = Object.getOwnPropertyNames(real);
  const diversion = createDiversion(real);
  diversion.to(target);
  real.statusCode = 404;
  real.statusMessage = 'Gone Fishing';
  assert.equal(real.setHeader('x-after', '1'), real);
  assert.equal(real.writeHead(404).end('secret'), real);
  assert.deepEqual([real.headersSent, real.writableEnded, real.finished], [true, true, true]);
  assert.deepEqual([target.headersSent, target.statusCode, target.getHeader('x-after')], [true, 404, '1']);
  diversion.take();
  assert.deepEqual(
    [real.headersSent, real.writableEnded, real.finished, real.statusCode],
    [false, false, false, 200],
  );
  assert.deepEqual(real.getHeaders(), Object.assign(Object.create(null), { 'x-before': '1' }));
  assert.deepEqual(Object.getOwnPropertyNames(real), own);
});

test('H15: Node’s own methods, called past what is laid over a diverted response, put no octet on the wire', () => {
  const { real, target } = pair();
  const wire = new Socket();
  const octets: string[] = [];
  wire._write = (chunk, _encoding, done) => {
    octets.push(String(chunk));
    done();
  };
  wire._writev = (chunks, done) => {
    for (const { chunk } of chunks) octets.push(String(chunk));
    done();
  };
  real.assignSocket(wire);
  const diversion = createDiversion(real);
  diversion.to(target);
  Reflect.apply(ServerResponse.prototype.write, real, ['secret']);
  Reflect.apply(Reflect.get(real, '_send'), real, ['secret']);
  Reflect.apply(Reflect.get(real, '_writeRaw'), real, ['secret']);
  assert.deepEqual([octets, target.headersSent], [[], true]);
});

test('wrappers from before the gate come back, those from behind it go', () => {
  const { real, target } = pair();
  const seen: string[] = [];
  const before = (name: string): ServerResponse => {
    seen.push(name);
    return real;
  };
  real.writeHead = () => before('outer');
  const diversion = createDiversion(real);
  diversion.to(target);
  const inner = real.writeHead;
  real.writeHead = (status: number) => {
    seen.push('inner');
    return inner.call(real, status);
  };
  real.writeHead(200);
  assert.deepEqual([seen, target.headersSent], [['inner'], true]);
  diversion.take();
  real.writeHead(200);
  assert.deepEqual(seen, ['inner', 'outer']);
});

test('listeners from behind the gate hear the target, those from before it the real response', () => {
  const { real, target } = pair();
  const seen: string[] = [];
  real.once('close', () => seen.push('outer'));
  const diversion = createDiversion(real);
  diversion.to(target);
  real.once('close', () => seen.push('inner'));
  // As Node does when the client's connection closes.
  real.destroyed = true;
  real.emit('close');
  assert.deepEqual([seen, real.destroyed], [['outer'], false]);
  target.emit('close');
  assert.deepEqual(seen, ['outer', 'inner']);
  diversion.take();
  assert.equal(real.destroyed, true);
});

test('the listeners that on-finished keeps on a response are two lists, before the gate and behind it', () => {
  const { real, target } = pair();
  Reflect.set(real, '__onFinished', 'outer');
  const diversion = createDiversion(real);
  diversion.to(target);
  assert.equal(Reflect.get(real, '__onFinished'), undefined);
  Reflect.set(real, '__onFinished', 'inner');
  assert.equal(Reflect.get(target, '__onFinished'), 'inner');
  diversion.take();
  assert.equal(Reflect.get(real, '__onFinished'), 'outer');
});

test('after the delivery a handler that runs on still writes to the target', () => {
  const { real, target } = pair();
  const diversion = createDiversion(real);
  diversion.to(target);
  diversion.take();
  real.end('delivered');
  diversion.done();
  real.setHeader('x-late', '1');
  assert.deepEqual([target.getHeader('x-late'), real.headersSent], ['1', true]);
});

test('a response that was never diverted is left alone', () => {
  const { real } = pair();
  const own = Object.getOwnPropertyNames(real);
  const diversion = createDiversion(real);
  diversion.take();
  diversion.done();
  assert.deepEqual(Object.getOwnPropertyNames(real), own);
});
