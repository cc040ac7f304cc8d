import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { guardBindings, oddTarget, peerOf } from './bindings.ts';

type Bindings = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };

function pair(): Bindings & { readonly socket: Socket } {
  const socket = new Socket();
  socket._write = () => assert.fail('sent');
  const incoming = new IncomingMessage(socket);
  const outgoing = new ServerResponse(incoming);
  outgoing.assignSocket(socket);
  return { socket, incoming, outgoing };
}

function guard(env: object, faults: unknown[] = []): Bindings {
  return guardBindings(env, [['x-tag', 'one']], (fault) => faults.push(fault)) as Bindings;
}

test('H10: the peer is asked of Node’s connection, and unknown elsewhere', () => {
  const incoming = { socket: { remoteAddress: '192.0.2.1' } };
  assert.equal(peerOf({ incoming }), '192.0.2.1');
  assert.equal(peerOf({ server: { incoming } }), '192.0.2.1');
  for (const env of [undefined, null, {}, { incoming: {} }, { incoming: { socket: { remoteAddress: 7 } } }])
    assert.equal(peerOf(env), undefined);
});

test('H11: a target that is not of origin form is known, where the platform is Node', () => {
  assert.equal(oddTarget({ incoming: { url: 'http://evil.example/p' } }), 'http://evil.example/p');
  for (const env of [undefined, {}, { incoming: {} }, { incoming: { url: '/p' } }])
    assert.equal(oddTarget(env), undefined);
});

test('bindings of other platforms are the very same object', () => {
  for (const env of [undefined, {}, { KV: {}, incoming: 'text' }, { incoming: {} }])
    assert.equal(
      guardBindings(env, [], () => {}),
      env,
    );
});

/** Everything that would put something on the wire, or change what is put there. */
const writes: { readonly [way: string]: (bindings: Bindings) => unknown } = {
  'outgoing.write': ({ outgoing }) => outgoing.write('secret'),
  'outgoing.end': ({ outgoing }) => outgoing.end('secret'),
  'outgoing.writeHead': ({ outgoing }) => outgoing.writeHead(200),
  'outgoing.flushHeaders': ({ outgoing }) => outgoing.flushHeaders(),
  'outgoing.setHeader': ({ outgoing }) => outgoing.setHeader('x-secret', '1'),
  'outgoing.addTrailers': ({ outgoing }) => outgoing.addTrailers({ 'x-secret': '1' }),
  'outgoing.statusMessage': ({ outgoing }) => {
    outgoing.statusMessage = 'secret';
  },
  'outgoing.destroy': ({ outgoing }) => outgoing.destroy(),
  'outgoing.socket': ({ outgoing }) => outgoing.socket?.write('secret'),
  'outgoing.connection': ({ outgoing }) => outgoing.connection?.end('secret'),
  'outgoing.req.socket': ({ outgoing }) => outgoing.req.socket.write('secret'),
  'incoming.socket': ({ incoming }) => incoming.socket.write('secret'),
  'incoming.socket.destroy': ({ incoming }) => incoming.socket.destroy(),
};

for (const [way, write] of Object.entries(writes)) {
  test(`H15: ${way} behind the gate gives up the work and sends nothing`, () => {
    const { socket, incoming, outgoing } = pair();
    const faults: unknown[] = [];
    write(guard({ incoming, outgoing }, faults));
    const nested: unknown = Reflect.get(guard({ server: { incoming, outgoing } }, faults), 'server');
    write(nested as Bindings);
    assert.equal(faults.length, 2);
    assert.ok(faults.every((fault) => fault instanceof Error));
    assert.deepEqual([outgoing.headersSent, outgoing.writableEnded, socket.destroyed], [false, false, false]);
    assert.deepEqual([outgoing.getHeaderNames(), outgoing.statusMessage], [[], undefined]);
  });
}

test('H15: interim answers come to nothing, and the work goes on', async () => {
  const { incoming, outgoing } = pair();
  const faults: unknown[] = [];
  const shown = guard({ incoming, outgoing }, faults).outgoing;
  shown.writeContinue();
  shown.writeProcessing();
  await new Promise<void>((resolve) => shown.writeEarlyHints({ link: '</x>; rel=preload' }, resolve));
  assert.deepEqual(faults, []);
});

test('reading and listening go on as usual', () => {
  const { incoming, outgoing } = pair();
  const shown = guard({ incoming, outgoing, other: 7 });
  let heard = 0;
  shown.outgoing.once('finish', () => {
    heard += 1;
  });
  outgoing.emit('finish');
  outgoing.statusCode = 203;
  assert.deepEqual(
    [heard, shown.outgoing.statusCode, shown.outgoing.getHeaderNames(), Reflect.get(shown, 'other')],
    [1, 203, [], 7],
  );
  assert.equal(shown.incoming.socket.remoteAddress, undefined);
});

test('H15: the way to a WebSocket is not among the guarded bindings', () => {
  const { incoming } = pair();
  const way = Symbol('wait');
  const shown = guard({ incoming, outgoing: undefined, [way]: () => assert.fail('opened') });
  assert.deepEqual(Object.getOwnPropertySymbols(shown), []);
});

test('H07: the fields that the work is not told of are gone from Node’s request too', () => {
  const { incoming, outgoing } = pair();
  incoming.rawHeaders = ['X-Tag', 'one', 'PAYMENT-SIGNATURE', 'secret', 'Range', 'bytes=0-1'];
  const shown = guard({ incoming, outgoing });
  assert.deepEqual(shown.incoming.rawHeaders, ['X-Tag', 'one']);
});
