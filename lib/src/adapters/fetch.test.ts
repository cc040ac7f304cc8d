/** What only the fetch adapter has to get right: streams that end, break, never end, or are not taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRig, type Rig } from '../../test/rig.ts';
import type { RouteOptions, RouteRequest, Seller } from '../seller/index.ts';
import { decodePaymentRequired, encodePaymentSignature } from '../wire/index.ts';
import { type PaidHandler, paid, paidRoutes } from './fetch.ts';
import { until } from './rig/wire.ts';

const url = 'https://inner.example/weather?at=%2fhome&at=#here';
/** What a server in front of a fetch handler may hand on beside its own URL. */
const host = { host: 'api.example.com' };

type Shop = {
  readonly rig: Rig;
  readonly serve: (request: Request) => Promise<Response>;
  readonly buy: (init?: RequestInit) => Promise<Response>;
};

function openShop(
  handler: PaidHandler<RouteRequest>,
  options: Partial<RouteOptions<RouteRequest>> = {},
): Shop {
  const rig = createRig();
  const { parse: _parse, ...settings } = {
    method: 'GET',
    path: '/weather',
    price: '$0.01',
    ...options,
  } as const;
  const serve = paid(rig.seller, rig.seller.route(settings), handler);
  const buy = async (init: RequestInit = {}): Promise<Response> => {
    const unpaid = await serve(new Request(url, { ...init, headers: { ...init.headers, ...host } }));
    const required = decodePaymentRequired(unpaid.headers.get('payment-required') ?? '');
    if (!required.ok) throw new Error(`no terms in ${unpaid.status}`);
    const payment = encodePaymentSignature(await rig.pay(required.value));
    return serve(
      new Request(url, { ...init, headers: { ...init.headers, ...host, 'PAYMENT-SIGNATURE': payment } }),
    );
  };
  return { rig, serve, buy };
}

test('the handler gets our public URL, the priced octets and the signal, and not the payment', async () => {
  const shop = openShop(
    async (request, context) => {
      assert.equal(request.headers.has('payment-signature'), false);
      assert.equal(request.signal.aborted, context.signal.aborted);
      return Response.json({
        url: request.url,
        body: await request.text(),
        tag: request.headers.get('x-tag'),
      });
    },
    { method: 'POST' },
  );
  const answer = await shop.buy({ method: 'POST', body: 'where?', headers: { 'x-tag': 'one' } });
  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), {
    url: 'https://api.example.com/weather?at=%2fhome&at=',
    body: 'where?',
    tag: 'one',
  });
});

/** What a handler may do wrong; none of it is charged for. */
const failures: { readonly [way: string]: PaidHandler<RouteRequest> } = {
  'Response.error()': () => Response.error(),
  'a body that was read already': async () => {
    const response = new Response('sunny');
    await response.text();
    return response;
  },
  'a stream that breaks': () =>
    new Response(
      new ReadableStream({
        pull: (controller) => {
          controller.enqueue(new Uint8Array(3));
          controller.error(new Error('swordfish'));
        },
      }),
    ),
  'a stream of texts': () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue('sunny') })),
};

for (const [way, handler] of Object.entries(failures)) {
  test(`H14: ${way} as an answer is work that failed, and is not charged for`, async () => {
    const shop = openShop(handler);
    const answer = await shop.buy();
    const text = await answer.text();
    assert.deepEqual([answer.status, JSON.parse(text).code], [500, 'work_failed']);
    assert.doesNotMatch(text, /swordfish/);
    assert.equal(shop.rig.calls.settle, 0);
  });
}

test('a stream without end is canceled at the limit and not sold', async () => {
  let canceled = false;
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1024)),
    cancel: () => {
      canceled = true;
    },
  });
  const shop = openShop(() => new Response(endless), { maxAnswerBytes: 10_000 });
  const answer = await shop.buy();
  assert.equal(JSON.parse(await answer.text()).code, 'answer_too_large');
  assert.deepEqual([canceled, shop.rig.calls.settle], [true, 0]);
});

test('a stream that falls silent is canceled when the work has taken too long', async () => {
  const canceled = Promise.withResolvers<void>();
  const silent = new ReadableStream({ cancel: () => canceled.resolve() });
  let runs = 0;
  const shop = openShop(
    () => {
      runs += 1;
      return new Response(silent);
    },
    { workMs: 1000 },
  );
  const buying = shop.buy();
  await until(() => runs === 1);
  await shop.rig.clock.advance(1000);
  assert.equal((await buying).status, 500);
  await canceled.promise;
});

test('an answer counts as delivered when it was taken to its end, and not before', async () => {
  const shop = openShop(() => new Response('sunny'));
  const answer = await shop.buy();
  const notes = (): readonly string[] =>
    shop.rig.events.flatMap((event) => (event.event === 'delivered' ? [event.how] : []));
  assert.equal(answer.headers.get('content-length'), '5');
  const reader = answer.body?.getReader();
  assert.equal((await reader?.read())?.value?.length, 5);
  assert.deepEqual(notes(), []);
  assert.equal((await reader?.read())?.done, true);
  await until(() => notes().length > 0);
  assert.deepEqual(notes(), ['complete']);
});

test('an answer that is canceled, or whose client leaves before it was taken, is cut', async () => {
  for (const leave of ['cancel', 'abort'] as const) {
    const shop = openShop(() => new Response('sunny'));
    const client = new AbortController();
    const answer = await shop.buy({ signal: client.signal });
    if (leave === 'cancel') await answer.body?.cancel();
    else client.abort();
    await until(() => shop.rig.events.some((event) => event.event === 'delivered'));
    assert.deepEqual(shop.rig.events.at(-1), {
      event: 'delivered',
      key: shop.rig.events.flatMap((event) => (event.event === 'delivered' ? [event.key] : []))[0],
      how: 'cut',
    });
  }
});

test('S10: an answer whose client left during the work is cut, though nobody takes or cancels it', async () => {
  const client = new AbortController();
  const shop = openShop(() => {
    client.abort();
    return new Response('sunny');
  });
  await shop.buy({ signal: client.signal });
  assert.ok(shop.rig.events.some((event) => event.event === 'delivered' && event.how === 'cut'));
});

test('an answer without a body is delivered at once', async () => {
  const shop = openShop(() => new Response(null, { status: 204 }));
  const answer = await shop.buy();
  assert.deepEqual([answer.status, answer.body], [204, null]);
  assert.ok(shop.rig.events.some((event) => event.event === 'delivered' && event.how === 'complete'));
});

test('a body that was read before the gate is refused, and nothing is charged', async () => {
  const shop = openShop(() => new Response('sunny'), { method: 'POST' });
  const request = new Request(url, { method: 'POST', body: 'where?', headers: host });
  await request.text();
  const answer = await shop.serve(request);
  assert.equal((await answer.json()).code, 'internal_error');
});

test('H10: the seller is told the peer by whoever knows it', async () => {
  const peers: (string | undefined)[] = [];
  const rig = createRig();
  const route = rig.seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
  const seller: Pick<Seller, 'charge' | 'catalogue'> = {
    catalogue: rig.seller.catalogue,
    charge: (sold, request, work) => {
      peers.push(request.peer);
      return rig.seller.charge(sold, request, work);
    },
  };
  const handler = (): Response => new Response('sunny');
  const peer = (request: Request): string | undefined => request.headers.get('x-peer') ?? undefined;
  const request = (): Request =>
    new Request('https://api.example.com/weather', { headers: { 'x-peer': '::1' } });
  await paid(seller, route, handler)(request());
  await paid(seller, route, { handler, peer })(request());
  await paidRoutes(seller, [[route, handler]], { peer })(request());
  assert.deepEqual(peers, [undefined, '::1', '::1']);
  assert.throws(() => paid(seller, route, { handler, pear: peer } as { handler: () => Response }), TypeError);
});

test('what is not sold is 404 where nothing else is said', async () => {
  const rig = createRig();
  const route = rig.seller.route({ method: 'GET', path: '/weather', price: '$0.01' });
  const serve = paidRoutes(rig.seller, [[route, () => new Response('sunny')]]);
  const answer = await serve(new Request('https://api.example.com/elsewhere'));
  assert.deepEqual([answer.status, answer.body], [404, null]);
});
