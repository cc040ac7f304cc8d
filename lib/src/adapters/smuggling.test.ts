/**
 * Octets that two readers could take for different requests (H11), sent straight to our sellers with a payment that is
 * good: Node refuses them, or the gate does, and the handler never runs.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CountingShop, openCounting } from './rig/counter.ts';
import { doors } from './rig/door.ts';
import { paying } from './rig/shop.ts';
import { attempts } from './rig/smuggle.ts';
import { octets, open } from './rig/wire.ts';

const host = 'Host: api.example.com';

/** Requests by what is wrong with them; `own` is the line of a payment that is good. */
function malformed(own: string): ReadonlyMap<string, string> {
  const request = (first: string, ...lines: readonly string[]): string =>
    [first, ...lines, own, 'Connection: close', '', ''].join('\r\n');
  const post = 'POST /weather HTTP/1.1';
  const chunks = 'Transfer-Encoding: chunked';
  return new Map([
    ['a length and chunks', `${request(post, host, 'Content-Length: 5', chunks)}0\r\n\r\n`],
    ['chunks and a length', `${request(post, host, chunks, 'Content-Length: 5')}0\r\n\r\n`],
    ['two lengths', `${request(post, host, 'Content-Length: 5', 'Content-Length: 6')}hello!`],
    ['one length twice', `${request(post, host, 'Content-Length: 5', 'Content-Length: 5')}hello`],
    ['a list of lengths', `${request(post, host, 'Content-Length: 5, 5')}hello`],
    ['a coding that is not the last', `${request(post, host, `${chunks}, identity`)}0\r\n\r\n`],
    ['chunks twice', `${request(post, host, chunks, chunks)}0\r\n\r\n`],
    ['a folded length', `${request(post, host, 'Content-Length:\r\n 5')}hello`],
    ['a folded payment', request(post, host, 'X: y\r\n folded')],
    ['a line feed alone', request(post, `${host}\nX: y`)],
    ['line feeds alone', request(post, host).replaceAll('\r\n', '\n')],
    ['a carriage return alone', request(post, `${host}\rX: y`)],
    ['NUL in a value', request(post, host, 'X: a\0b')],
    ['NUL in a name', request(post, host, 'X\0Y: a')],
    ['NUL in the target', request('POST /wea\0ther HTTP/1.1', host)],
    ['a blank before a colon', request(post, host, 'X : y')],
    ['a name that is none', request(post, host, 'X@Y: z')],
    ['no host', request(post)],
    ['two hosts', request(post, host, 'Host: evil.example')],
    ['another host', request(post, 'Host: evil.example')],
    ['a host that is none', request(post, 'Host: api.example.com/weather?')],
    ['another host in the target', request('POST http://evil.example/weather HTTP/1.1', host)],
    ['our own host in the target', request('POST http://api.example.com/weather HTTP/1.1', host)],
    ['an authority as the target', request('POST api.example.com:443 HTTP/1.1', host)],
    ['a target without its slash', request('POST weather HTTP/1.1', host)],
    ['a backslash', request('POST \\weather HTTP/1.1', host)],
    ['a broken escape', request('POST /weather% HTTP/1.1', host)],
    ['octets beyond ASCII', request('POST /w\xe9ather HTTP/1.1', host)],
    ['another version', request('POST /weather HTTP/3.1', host)],
  ]);
}

async function send(shop: CountingShop, text: string): Promise<string> {
  const wire = open(shop.port);
  wire.send(Buffer.from(text, 'latin1'));
  wire.socket.end();
  await wire.closed;
  return wire.soFar();
}

for (const door of doors) {
  describe(`${door.name}:`, () => {
    test('H11: no request that could be read in two ways runs the handler, though its payment is good', async (t) => {
      const shop = await openCounting(t, door, () => ({ parts: ['secret'] }), { method: 'POST' });
      const payment = await shop.payment({ method: 'POST', body: '' });
      for (const [what, text] of malformed(`PAYMENT-SIGNATURE: ${payment}`)) {
        const said = await send(shop, text);
        assert.doesNotMatch(said, /secret/, what);
        // Express hands an escape that it cannot read to the application's error handler, which here says 500.
        assert.match(said, /^(?:HTTP\/1\.1 [45][0-9][0-9] |$)/, what);
        assert.doesNotMatch(said, /HTTP\/1\.1 [123]/, what);
      }
      assert.deepEqual([shop.runs(), shop.rig.calls.verify, shop.rig.calls.settle], [0, 0, 0]);
      const honest = await shop.ask(paying(payment, { method: 'POST', body: '' }));
      assert.deepEqual([honest.status, honest.text, shop.runs()], [200, 'secret', 1]);
    });

    test('H11: what is smuggled in the body of a request buys nothing', async (t) => {
      const shop = await openCounting(t, door, () => ({ parts: ['secret'] }), { method: 'POST' });
      const payment = await shop.payment({ method: 'POST', body: '' });
      for (const [what, text] of attempts('POST', payment)) {
        assert.doesNotMatch(await send(shop, text), /secret|HTTP\/1\.1 [235]/, what);
      }
      assert.deepEqual([shop.runs(), shop.rig.calls.settle], [0, 0]);
    });

    test('H11: a body that looks like a request is a body', async (t) => {
      const bodies: string[] = [];
      const shop = await openCounting(
        t,
        door,
        ({ body }) => {
          bodies.push(body);
          return { parts: ['secret'] };
        },
        { method: 'POST' },
      );
      const body = octets({ method: 'POST', body: 'x' });
      assert.equal((await shop.buy({ method: 'POST', body })).status, 200);
      assert.deepEqual([bodies, shop.rig.calls.settle], [[body], 1]);
    });
  });
}
