import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createRig, type Rig, requestOf } from '../../test/rig.ts';
import type { HeaderList } from './message.ts';
import { markHeader, type Probe, probeHeader } from './probe.ts';
import type { Route, RouteRequest } from './route.ts';

type Places = Readonly<Record<string, Route<RouteRequest> | 'open' | 'broken'>>;

/** An application that serves routes at paths; what is not gated runs. */
function application(rig: Rig, places: Places): { readonly probe: Probe; readonly asked: string[] } {
  const asked: string[] = [];
  const probe: Probe = async ({ method, target, headers }) => {
    asked.push(`${method} ${target}`);
    const place = places[`${method} ${target}`];
    if (place === 'broken') throw new Error('no answer');
    if (place === 'open') return { status: 200, headers: [] };
    if (place === undefined) return { status: 404, headers: [] };
    const { answer } = await rig.seller.charge(place, requestOf({ method, target, headers }), async () =>
      assert.fail('the work ran for a probe'),
    );
    return { status: answer.status, headers: answer.headers };
  };
  return { probe, asked };
}

function open() {
  const rig = createRig();
  const define = (method: string, path: string) => rig.seller.route({ method, path, price: '$0.01' });
  return {
    rig,
    weather: define('GET', '/weather'),
    item: define('GET', '/items/:id'),
    chat: define('POST', '/chat'),
  };
}

test('H05: a seller is ready when every declared route was met behind its gate, and nothing ran', async () => {
  const { rig, weather, item, chat } = open();
  const { probe, asked } = application(rig, {
    'GET /weather': weather,
    'GET /items/probe': item,
    'POST /chat': chat,
  });
  await rig.seller.ready({ probe });
  assert.deepEqual(asked.sort(), ['GET /items/probe', 'GET /weather', 'POST /chat']);
  assert.equal(rig.calls.settle, 0);
});

test('H05: a route that is open, moved, broken or behind another’s gate is named, and the others are not', async () => {
  const { rig, weather, chat } = open();
  const { probe } = application(rig, {
    'GET /weather': 'open',
    'GET /items/probe': weather,
    'POST /chat': chat,
  });
  await assert.rejects(rig.seller.ready({ probe }), (fault: Error) => {
    assert.match(fault.message, /GET \/weather: \/weather answered 200 without passing its gate/);
    assert.match(fault.message, /GET \/items\/:id: \/items\/probe is sold by GET \/weather/);
    assert.doesNotMatch(fault.message, /POST \/chat/);
    return true;
  });
  const moved = application(rig, {
    'GET /api/weather': weather,
    'GET /items/probe': 'broken',
    'POST /chat': chat,
  });
  await assert.rejects(rig.seller.ready({ probe: moved.probe }), /404 without passing.*\n?.*/s);
  await assert.rejects(rig.seller.ready({ probe: moved.probe }), /could not be asked \(no answer\)/);
});

test('a route that another application serves is left out by name, and a wrong name is a mistake', async () => {
  const { rig, weather, item } = open();
  const { probe } = application(rig, { 'GET /weather': weather, 'GET /items/probe': item });
  await rig.seller.ready({ probe, except: ['POST /chat'] });
  await assert.rejects(rig.seller.ready({ probe, except: ['POST /chap'] }), TypeError);
});

test('design 9.19: any refusal of the right gate will do, as of a price that needs a body', async () => {
  const rig = createRig();
  const route = rig.seller.route({
    method: 'POST',
    path: '/chat',
    parse: (): RouteRequest => {
      throw new Error('no body');
    },
    price: () => '$0.01',
  });
  const { probe } = application(rig, { 'POST /chat': route });
  await rig.seller.ready({ probe });
});

test('H05: a gate that fails itself, as one whose body somebody else has read, is no gate that sells', async () => {
  const { rig, weather, item, chat } = open();
  const { probe } = application(rig, { 'GET /weather': weather, 'GET /items/probe': item });
  const taken: Probe = async (asked) => {
    const { method, target, headers } = asked;
    if (asked.method !== 'POST') return probe(asked);
    assert.deepEqual(
      [new TextDecoder().decode(asked.body), asked.headers.at(-1)],
      ['{}', ['content-type', 'application/json']],
    );
    const readBody = () => Promise.reject(new TypeError('was read before'));
    const { answer } = await rig.seller.charge(
      chat,
      { ...requestOf({ method, target, headers }), readBody },
      async () => assert.fail('the work ran for a probe'),
    );
    return { status: answer.status, headers: answer.headers };
  };
  await assert.rejects(
    rig.seller.ready({ probe: taken }),
    /POST \/chat: \/chat reached its gate, which failed\./,
  );
});

test('a stranger learns no mark, and a mark that is guessed is told nothing', async () => {
  const { rig, weather } = open();
  for (const guess of ['', '0'.repeat(32), 'true']) {
    const headers: HeaderList = [[probeHeader, guess]];
    const { answer } = await rig.seller.charge(weather, requestOf({ headers }), async () => answerOf(''));
    assert.equal(
      answer.headers.find(([name]) => name === markHeader),
      undefined,
    );
  }
});
