import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe } from '../problem.ts';
import { type Catalogue, type CatalogueOptions, createCatalogue, type Listed } from './catalogue.ts';

function listed(name: string): Listed {
  const [method = '', path = ''] = name.split(' ');
  return { method, path, name };
}

function catalogueOf(names: readonly string[], options: CatalogueOptions = {}): Catalogue<Listed> {
  return createCatalogue(names.map(listed), options);
}

/** What is found, in a word: the route's name, `free`, or the status with the code. */
function say(catalogue: Catalogue<Listed>, request: string): string {
  const at = request.indexOf(' ');
  const found = catalogue.find(request.slice(0, at), request.slice(at + 1));
  if (found.kind === 'free') return 'free';
  if (found.kind === 'route') return found.route.name;
  return `${describe(found.refusal).status} ${found.refusal.code}`;
}

function check(catalogue: Catalogue<Listed>, table: Readonly<Record<string, string>>): void {
  for (const [request, expected] of Object.entries(table))
    assert.equal(say(catalogue, request), expected, request);
}

const malformed = '400 request_malformed';
const shop = catalogueOf(
  [
    'GET /weather',
    'POST /weather',
    'GET /item/special',
    'GET /item/:id',
    'GET /files/*rest',
    'PUT /api/report',
  ],
  { closed: ['/api'], free: ['GET /api/health', 'DELETE /item/:id', 'GET /about'] },
);

test('a request is its route, and what is not sold is free', () => {
  check(shop, {
    'GET /weather': 'GET /weather',
    'GET /weather?city=Rome&x=/../about': 'GET /weather',
    'POST /weather': 'POST /weather',
    'GET /item/special': 'GET /item/special',
    'GET /item/7': 'GET /item/:id',
    'GET /item/caf%C3%A9%20au%20lait': 'GET /item/:id',
    'GET /item/https%3A%2F%2Fexample.com%2Fa%2Fb%3Fc%3Dd': 'GET /item/:id',
    'GET /files/a/b.txt': 'GET /files/*rest',
    'GET /': 'free',
    'GET /item': 'free',
    'GET /weather/today': 'free',
    'POST /elsewhere': 'free',
  });
});

test('H01 H02: HEAD belongs to GET, and OPTIONS to whatever the path has', () => {
  check(shop, {
    'HEAD /weather': 'GET /weather',
    'OPTIONS /weather': 'GET /weather',
    'OPTIONS /api/report': 'PUT /api/report',
    'HEAD /api/health': 'free',
    'OPTIONS /api/health': 'free',
    'HEAD /api/report': '405 method_not_allowed',
    'OPTIONS *': 'free',
    'GET *': malformed,
  });
});

test('B05: a priced path refuses every method that has neither a price nor leave', () => {
  check(shop, {
    'PATCH /weather': '405 method_not_allowed',
    'POST /item/7': '405 method_not_allowed',
    'DELETE /item/7': 'free',
    'DELETE /item/special': 'free',
    'TRACE /item/special': '405 method_not_allowed',
    'get /weather': 'GET /weather',
    'post /item/7': '405 method_not_allowed',
    'CONNECT /weather': '405 method_not_allowed',
  });
  const found = shop.find('PATCH', '/item/7');
  assert.ok(found.kind === 'refused');
  assert.deepEqual(found.allow, ['DELETE', 'GET', 'HEAD', 'OPTIONS']);
  const { code, money, retry, detail } = found.refusal;
  assert.deepEqual(
    { code, money, retry },
    { code: 'method_not_allowed', money: undefined, retry: undefined },
  );
  assert.match(detail ?? '', /DELETE, GET, HEAD, OPTIONS/);
});

test('S5: under a closed prefix only what is priced or free is passed on', () => {
  check(shop, {
    'GET /api/health': 'free',
    'PUT /api/report': 'PUT /api/report',
    'GET /api': '404 not_sold',
    'GET /api/': '404 not_sold',
    'GET /api/secret': '404 not_sold',
    'POST /api/health': '404 not_sold',
    'GET /API/secret': '404 not_sold',
    'GET /a/../%61pi//secret': '404 not_sold',
    'GET /apis': 'free',
  });
  const all = catalogueOf(['GET /weather'], { closed: ['/'], free: ['GET /health'] });
  check(all, {
    'GET /weather': 'GET /weather',
    'GET /health': 'free',
    'GET /': '404 not_sold',
    'GET /a/b': '404 not_sold',
    'POST /weather': '405 method_not_allowed',
  });
  check(catalogueOf([], { closed: ['/:tenant/api'] }), {
    'GET /a/api/x': '404 not_sold',
    'GET /a/b': 'free',
  });
});

test('H04: a spelling that some server takes for a route is that route', () => {
  for (const target of [
    '/weather/',
    '/WEATHER',
    '//weather',
    '/%77eather',
    '/%2577eather',
    '/%2fweather',
    '/%5cweather',
    '/\\weather',
    '/weather;v=1',
    '/./weather',
    '/a/../weather',
    '/a%2fb/../weather',
    '/weather%09',
    '/weather%3fx',
    'http://shop.example/weather',
    '//host/weather',
    '/mar/..//host/weather',
  ]) {
    check(shop, { [`GET ${target}`]: 'GET /weather' });
  }
});

test('H04: a target that servers take for two routes is refused', () => {
  const catalogue = catalogueOf(
    ['GET /item/special', 'GET /item/:id', 'GET /:page/premium', 'POST /a/*', 'GET /a/:b'],
    {
      free: ['GET /about'],
    },
  );
  check(catalogue, {
    'GET /item/special': 'GET /item/special',
    'GET /item/premium': 'GET /item/:id',
    'GET /item/Special': malformed,
    'GET /item/%73pecial': malformed,
    'GET /item/special;v=1': malformed,
    'GET /item/special%2f.': malformed,
    'GET /item/7;/../../about': malformed,
    'GET /news/premium': 'GET /:page/premium',
    // Of another method for the servers that see no such route.
    'GET /a/b/': malformed,
  });
});

test('H04: a slash or a letter is no ambiguity where all that matches needs the same leave', () => {
  const catalogue = catalogueOf(['GET /item/:id', 'POST /item/:id', 'GET /API/:name'], {
    free: ['DELETE /item/:id'],
  });
  check(catalogue, {
    'GET /item/7/': 'GET /item/:id',
    'POST /item/7/': 'POST /item/:id',
    'DELETE /item/7/': 'free',
    'GET /Item/7': 'GET /item/:id',
    'GET /item/ABC': 'GET /item/:id',
    'PUT /ITEM/7/': '405 method_not_allowed',
    'GET /api/x': 'GET /API/:name',
  });
  // Where letter case parts two routes, each prefix may be read its own way.
  const nested = catalogueOf(['GET /api/special', 'GET /api/:id']);
  check(nested, {
    'GET /API/special': 'GET /api/special',
    'GET /api/Special': malformed,
    'GET /API/Special': malformed,
    'GET /API/7': 'GET /api/:id',
  });
});

test('H04: what is malformed and comes near a priced path or a closed prefix is refused', () => {
  check(shop, {
    'GET /weather%': malformed,
    'GET /%zz/../weather': malformed,
    'GET /weather%00': malformed,
    'GET /weather%c0%af': malformed,
    'GET /item/%ff': malformed,
    'PATCH /item/%ff': malformed,
    'GET /api/%zz': malformed,
    'GET /files/\u00e9': malformed,
    'GET /elsewhere/%zz': 'free',
    'GET /elsewhere/\u00e9': 'free',
    'GET /elsewhere#': malformed,
    'GET /a b': malformed,
    'GET weather': malformed,
    'GET http://u@shop.example/weather': malformed,
    'GET /{xx/Aweather#': malformed,
  });
  const found = shop.find('GET', '/weather%');
  assert.ok(found.kind === 'refused');
  assert.deepEqual(found.refusal.fields, ['target']);
});

test('H04: a target that could be read in too many ways is refused unread', () => {
  check(shop, { [`GET /${'..;/%2f\\'.repeat(40)}`]: malformed });
});

test('where several routes match, the first declared has the request', () => {
  check(catalogueOf(['GET /:a/x', 'GET /y/:b', 'GET /*']), {
    'GET /y/x': 'GET /:a/x',
    'GET /y/z': 'GET /y/:b',
    'GET /z': 'GET /*',
    'GET /': 'GET /*',
  });
});

test('an exception to a wider route may be free', () => {
  const catalogue = catalogueOf(['GET /api/*'], { free: ['GET /api/health', 'GET /api/docs/*'] });
  check(catalogue, {
    'GET /api/health': 'free',
    'HEAD /api/health': 'free',
    'GET /api/docs/a': 'free',
    'GET /api/report': 'GET /api/*',
    'POST /api/report': '405 method_not_allowed',
    // Free for one server and priced for another.
    'GET /api/Health': malformed,
    'GET /api/health/': malformed,
    'GET /api/docs/../report': malformed,
  });
});

test('a route that no request can reach is a mistake that names both', () => {
  assert.throws(
    () => catalogueOf(['GET /item/:id', 'GET /item/special']),
    /GET \/item\/special.*GET \/item\/:id/,
  );
  assert.throws(() => catalogueOf(['GET /weather', 'GET /weather']), /can never be reached/);
  assert.throws(() => catalogueOf(['GET /item/:id', 'GET /item/:name']), /can never be reached/);
  assert.throws(() => catalogueOf(['GET /files/*', 'GET /files']), /can never be reached/);
  assert.throws(() => catalogueOf(['GET /Weather', 'GET /weather']), /can never be reached/);
  assert.throws(
    () => createCatalogue([listed('GET /a'), { ...listed('GET /a'), name: 'second' }]),
    /The route second \(GET \/a\) can never be reached: GET \/a,/,
  );
  assert.doesNotThrow(() => catalogueOf(['GET /item/:id', 'POST /item/special', 'GET /:a/:b']));
});

test('a path that is no pattern is a mistake that names the route', () => {
  assert.throws(
    () => createCatalogue([{ method: 'GET', path: '/a?', name: 'the forecast' }]),
    /the forecast.*"\/a\?"/,
  );
  for (const method of ['HEAD', 'OPTIONS', 'get', '*', '']) {
    assert.throws(
      () => createCatalogue([{ method, path: '/a', name: 'x' }]),
      /cannot be sold for the method/,
    );
  }
  assert.throws(() => catalogueOf(['GET /Item', 'POST /item']), /writes "item" where another writes "Item"/);
});

test('options that would give something away, or do nothing, are mistakes', () => {
  const sold = ['GET /item/:id', 'GET /:page/premium'];
  const wrong: readonly (readonly [options: object, why: RegExp])[] = [
    [{ opened: [] }, /no option "opened"/],
    [{ free: ['/health'] }, /written as "GET \/path"/],
    [{ free: ['get /health'] }, /written as "GET \/path"/],
    [{ free: ['GET /health?'] }, /is not a pattern/],
    [{ free: ['HEAD /item/7'] }, /not needed/],
    [{ free: ['OPTIONS /item/7'] }, /not needed/],
    [{ free: ['GET /item/:id'] }, /would give the route GET \/item\/:id away/],
    [{ free: ['GET /*'] }, /would give the route GET \/item\/:id away/],
    [{ free: ['GET /docs/:name'] }, /GET \/docs\/:name.*GET \/:page\/premium.*share some paths/],
    [{ closed: ['api'] }, /starts with/],
    [{ closed: ['/api/*'] }, /without its rest/],
  ];
  for (const [options, why] of wrong) assert.throws(() => catalogueOf(sold, options), why);
  assert.doesNotThrow(() =>
    catalogueOf(sold, { free: ['GET /item/7', 'POST /item/:id'], closed: ['/', '/item'] }),
  );
});

test('a catalogue has a limit', () => {
  const many = Array.from({ length: 10_001 }, (_none, at) => `GET /r${at}`);
  assert.throws(() => catalogueOf(many), /at most 10000 routes/);
});

test('a thousand routes are found like ten', () => {
  const names = Array.from({ length: 1_000 }, (_none, at) => `GET /v1/shop${at}/items/:id`);
  const catalogue = catalogueOf(names, { closed: ['/v1'] });
  for (const at of [0, 499, 999]) {
    check(catalogue, { [`GET /v1/shop${at}/items/7`]: `GET /v1/shop${at}/items/:id` });
  }
  check(catalogue, { 'GET /v1/shop1000/items/7': '404 not_sold' });
});
