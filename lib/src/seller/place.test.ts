import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { requestUrl } from '../payment/index.ts';
import { createPlaces, type Places } from './place.ts';

type Line = readonly [name: string, value: string];
const origin = 'https://api.example.com';
const proxy = '10.0.0.7';
const stranger = '203.0.113.9';

/** The origin, or the refusal as `code` or `code field`. */
function told(places: Places, headers: readonly Line[], peer?: string): string {
  const outcome = places.locate({ headers, ...(peer === undefined ? {} : { peer }) });
  if (outcome.ok) return outcome.value;
  return [outcome.refusal.code, ...(outcome.refusal.fields ?? [])].join(' ');
}

const alone = createPlaces({ origins: [origin] });
const behind = createPlaces({ origins: [origin], trustProxy: ['10.0.0.0/8', '::1'] });

test('R02: whoever asks under our own name, in any spelling of it, is answered under the configured origin', () => {
  assert.equal(alone.origin, origin);
  for (const host of ['api.example.com', 'API.Example.COM', 'api.example.com:443', 'API.example.com:0443']) {
    assert.equal(told(alone, [['host', host]]), origin, host);
    assert.equal(told(alone, [[':authority', host]]), origin, host);
    assert.equal(
      told(
        alone,
        [
          ['accept', '*/*'],
          ['host', host],
          ['te', 'trailers'],
        ],
        stranger,
      ),
      origin,
      host,
    );
  }
  for (const [own, host] of [
    ['http://api.example.com', 'api.example.com:80'],
    ['http://localhost:4021', 'LOCALHOST:4021'],
    ['http://[::1]:4021', '[::1]:4021'],
    ['https://[2001:db8::a]', '[2001:DB8::A]:443'],
    ['https://xn--bcher-kva.example', 'XN--bcher-kva.example'],
  ] as const) {
    assert.equal(told(createPlaces({ origins: [own] }), [['host', host]]), own, host);
  }
});

test('B06, R02: a Host that is not ours is a foreign one, and nothing is made for it', () => {
  for (const host of [
    'victim.example',
    'api.example.com.evil.example',
    'evil-api.example.com',
    'example.com',
    'api.example.com.',
    'api.example.com:80',
    'api.example.com:8443',
    'xn--api-example-com',
    '127.0.0.1',
    '[::1]',
    'localhost',
  ]) {
    assert.equal(told(alone, [['host', host]]), 'foreign_host', host);
    assert.equal(told(alone, [[':authority', host]]), 'foreign_host', host);
  }
  assert.equal(told(alone, []), 'foreign_host');
  assert.equal(told(alone, [['hosts', 'api.example.com']]), 'foreign_host');
  const plain = createPlaces({ origins: ['http://api.example.com'] });
  assert.equal(told(plain, [['host', 'api.example.com:443']]), 'foreign_host');
});

test('R02: user, path, a name outside ASCII, a port beyond the last: such a Host is malformed and says so', () => {
  for (const host of [
    '',
    ' ',
    'user@api.example.com',
    'api.example.com@victim.example',
    'https://api.example.com',
    'api.example.com/',
    'api.example.com/..//victim.example',
    'api.example.com?',
    'api.example.com#',
    'api.example.com\\victim.example',
    'api.example.com:',
    'api.example.com:65536',
    'api.example.com:443:443',
    'api.example.com:https',
    'api.example.com, victim.example',
    'api.example.com victim.example',
    ' api.example.com',
    'api.example.com\t',
    'api.example.com\u0000',
    'ap\u0131.example.com',
    'b\u00fccher.example',
    'api\uff0eexample\uff0ecom',
    'api%2eexample.com',
    '[::1',
    'a'.repeat(300),
  ]) {
    assert.equal(told(alone, [['host', host]]), 'request_malformed host', JSON.stringify(host));
    assert.equal(told(alone, [[':authority', host]]), 'request_malformed :authority', JSON.stringify(host));
    // A proxy's word does not mend what stands beside it.
    const mended: readonly Line[] = [
      ['host', host],
      ['x-forwarded-host', 'api.example.com'],
    ];
    assert.equal(told(behind, mended, proxy), 'request_malformed host', JSON.stringify(host));
  }
});

test('B06: a request has one Host: two lines are malformed, equal ones too', () => {
  const line: Line = ['host', 'api.example.com'];
  assert.equal(told(alone, [line, line]), 'request_malformed host');
  assert.equal(told(alone, [line, ['host', 'victim.example']]), 'request_malformed host');
  assert.equal(told(alone, [['host', 'victim.example'], line]), 'request_malformed host');
  const authority: Line = [':authority', 'api.example.com'];
  assert.equal(told(alone, [authority, authority]), 'request_malformed :authority');
  assert.equal(told(alone, [authority, ['host', 'API.example.com']]), origin);
  assert.equal(told(alone, [authority, ['host', 'victim.example']]), 'request_malformed host');
  assert.equal(
    told(alone, [
      ['host', 'api.example.com'],
      [':authority', 'victim.example'],
    ]),
    'request_malformed host',
  );
});

test('R02: an absolute-form target names no origin: the URL that is bound has ours, or there is none', () => {
  const place = alone.locate({ headers: [['host', 'api.example.com']] });
  assert.ok(place.ok);
  for (const target of [
    'http://victim.example/tx',
    'https://api.example.com/tx',
    '@victim.example/',
    '.victim.example/',
  ]) {
    assert.equal(requestUrl(place.value, target).ok, false, target);
  }
  assert.deepEqual(requestUrl(place.value, '//victim.example/tx'), {
    ok: true,
    value: 'https://api.example.com//victim.example/tx',
  });
});

test('B06: each tenant is answered under its own name, and a refusal says which names there are', () => {
  const origins = ['https://a.example', 'https://b.example:8443', 'http://c.example'];
  const places = createPlaces({ origins });
  assert.equal(places.origin, 'https://a.example');
  assert.equal(told(places, [['host', 'a.example:443']]), 'https://a.example');
  assert.equal(told(places, [['host', 'B.example:8443']]), 'https://b.example:8443');
  assert.equal(told(places, [['host', 'c.example']]), 'http://c.example');
  for (const host of ['b.example', 'b.example:443', 'c.example:443', 'd.example']) {
    assert.equal(told(places, [['host', host]]), 'foreign_host', host);
  }
  const refused = places.locate({ headers: [['host', 'd.example']] });
  assert.deepEqual(refused, {
    ok: false,
    refusal: {
      code: 'foreign_host',
      detail: 'This seller answers under https://a.example, https://b.example:8443, http://c.example.',
    },
  });
});

test('a seller with many tenants does not list them to a stranger', () => {
  const origins = Array.from({ length: 1000 }, (_, at) => `https://t${at}.example`);
  const refused = createPlaces({ origins }).locate({ headers: [['host', 'victim.example']] });
  assert.ok(!refused.ok);
  assert.match(
    refused.refusal.detail ?? '',
    /^This seller answers under https:\/\/t0\.example, .*t3\.example and others\.$/,
  );
});

const forged: readonly Line[] = [
  ['x-forwarded-host', 'victim.example'],
  ['x-forwarded-host', 'a b'],
  ['x-forwarded-proto', 'gopher'],
  ['x-forwarded-proto', 'http'],
  ['x-forwarded-prefix', '/victim'],
  ['x-forwarded-port', '8443'],
  ['x-original-host', 'victim.example'],
  ['x-host', 'victim.example'],
  ['forwarded', 'host=victim.example;proto=http'],
];

test('H10, R02: what a stranger writes into the headers of a proxy is not even read', () => {
  for (const places of [alone, behind]) {
    for (const peer of [undefined, stranger, 'unknown', '']) {
      assert.equal(told(places, [['host', 'api.example.com'], ...forged], peer), origin);
      const lure: readonly Line[] = [
        ['host', 'victim.example'],
        ['x-forwarded-host', 'api.example.com'],
      ];
      assert.equal(told(places, lure, peer), 'foreign_host');
      assert.equal(told(places, [['x-forwarded-host', 'api.example.com']], peer), 'foreign_host');
    }
  }
});

test('H10: of a trusted proxy, only the two headers that count are read', () => {
  const read = new Set(['x-forwarded-host', 'x-forwarded-proto']);
  const unread = forged.filter(([name]) => !read.has(name));
  assert.equal(unread.length, 5);
  assert.equal(told(behind, [['host', 'api.example.com'], ...unread], proxy), origin);
});

test('H10: the X-Forwarded-Host of our own proxy replaces Host', () => {
  for (const peer of [proxy, `::ffff:${proxy}`, '::1']) {
    const through = (...values: readonly string[]): string =>
      told(
        behind,
        [['host', 'backend:8080'], ...values.map((value): Line => ['x-forwarded-host', value])],
        peer,
      );
    assert.equal(through('api.example.com'), origin);
    assert.equal(through('API.example.com:443'), origin);
    assert.equal(through('victim.example'), 'foreign_host');
    assert.equal(through('api.example.com:80'), 'foreign_host');
    // The nearest proxy wrote the last one.
    assert.equal(through('victim.example, api.example.com'), origin);
    assert.equal(through('victim.example', ' \tapi.example.com '), origin);
    // With one origin there is nothing to confuse; with two the nearest proxy alone decides.
    assert.equal(through('api.example.com, victim.example'), origin);
    assert.equal(through('api.example.com', 'victim.example'), origin);
    const two = createPlaces({ origins: [origin, 'https://b.example'], trustProxy: [proxy, '::1'] });
    const chain: Line = ['x-forwarded-host', 'api.example.com, victim.example'];
    assert.equal(told(two, [['host', 'backend:8080'], chain], peer), 'foreign_host');
    const both: Line = ['x-forwarded-host', 'api.example.com, b.example'];
    assert.equal(told(two, [['host', 'backend:8080'], both], peer), 'https://b.example');
    for (const bad of [
      '',
      ',',
      'api.example.com,',
      'a b, api.example.com',
      'https://api.example.com',
      'u@api.example.com',
    ]) {
      assert.equal(through(bad), 'request_malformed x-forwarded-host', bad);
    }
    assert.equal(through('a b', 'api.example.com'), 'request_malformed x-forwarded-host');
    const hops = (count: number): string => Array.from({ length: count }, () => 'api.example.com').join(',');
    assert.equal(through(hops(16)), origin);
    assert.equal(through(hops(17)), 'request_malformed x-forwarded-host');
  }
  // A Host of ours does not help where the proxy was asked for another.
  const mixed: readonly Line[] = [
    ['host', 'api.example.com'],
    ['x-forwarded-host', 'victim.example'],
  ];
  assert.equal(told(behind, mixed, proxy), 'foreign_host');
  assert.equal(told(behind, [['x-forwarded-host', 'api.example.com']], proxy), origin);
});

test('H10: a proxy that sends its own upstream name, as nginx does by itself, speaks for the only origin', () => {
  assert.equal(told(behind, [['host', 'backend:8080']], proxy), origin);
  assert.equal(
    told(
      behind,
      [
        ['host', 'backend:8080'],
        ['x-forwarded-proto', 'http'],
      ],
      proxy,
    ),
    origin,
  );
  assert.equal(told(behind, [['host', 'backend:8080']], stranger), 'foreign_host');
  assert.equal(told(behind, [['host', 'backend:8080']]), 'foreign_host');
  assert.equal(told(behind, [], proxy), 'foreign_host');
  const two = createPlaces({ origins: [origin, 'https://b.example'], trustProxy: [proxy] });
  assert.equal(told(two, [['host', 'backend:8080']], proxy), 'foreign_host');
  assert.equal(told(two, [['host', 'b.example']], proxy), 'https://b.example');
});

test('H10: X-Forwarded-Proto chooses between two origins of one host, and nothing else', () => {
  const both = createPlaces({
    origins: ['https://h', 'http://h', 'http://h:8080', 'https://h:8080'],
    trustProxy: [proxy],
  });
  const asked = (host: string, proto?: string, peer = proxy): string =>
    told(
      both,
      [['host', host], ...(proto === undefined ? [] : [['x-forwarded-proto', proto] as const])],
      peer,
    );
  assert.equal(asked('h', 'http'), 'http://h');
  assert.equal(asked('h', 'HTTPS'), 'https://h');
  assert.equal(asked('h', 'https, http'), 'http://h');
  assert.equal(asked('h', 'http , https'), 'https://h');
  assert.equal(asked('h:8080', 'https'), 'https://h:8080');
  // Where nobody says, the earlier one of the list.
  assert.equal(asked('h'), 'https://h');
  assert.equal(asked('h:8080'), 'http://h:8080');
  assert.equal(asked('h', 'http', stranger), 'https://h');
  // A port that only one scheme has by default says it already.
  assert.equal(asked('h:80', 'https'), 'http://h');
  assert.equal(asked('h:443', 'http'), 'https://h');
  for (const bad of ['', 'gopher', 'https, gopher', 'https http', 'https;', 'https:', 'https,'.repeat(17)]) {
    assert.equal(asked('h', bad), 'request_malformed x-forwarded-proto', bad);
    assert.equal(asked('h', bad, stranger), 'https://h', bad);
  }
  assert.equal(
    told(
      behind,
      [
        ['host', 'api.example.com'],
        ['x-forwarded-proto', 'http'],
      ],
      proxy,
    ),
    origin,
  );
  const twice: readonly Line[] = ['gopher', 'http'].map((proto) => ['x-forwarded-proto', proto]);
  assert.equal(told(both, [['host', 'h'], ...twice], proxy), 'request_malformed x-forwarded-proto');
  const inOne: readonly Line[] = [
    ['host', 'x'],
    ['x-forwarded-host', 'h'],
    ['x-forwarded-proto', 'http'],
  ];
  assert.equal(told(both, inOne, proxy), 'http://h');
});

test('H10: behind a platform that every request comes through, every peer is its proxy', () => {
  const places = createPlaces({ origins: [origin], trustProxy: 'any' });
  assert.equal(
    told(places, [
      ['host', 'x'],
      ['x-forwarded-host', 'api.example.com'],
    ]),
    origin,
  );
  assert.equal(
    told(
      places,
      [
        ['host', 'x'],
        ['x-forwarded-host', 'victim.example'],
      ],
      stranger,
    ),
    'foreign_host',
  );
});

test('origins and options that cannot be meant stop the seller at its start', () => {
  const broken =
    (options: unknown): (() => Places) =>
    () =>
      createPlaces(options as { origins: string[] });
  assert.throws(broken({ origins: [] }), { name: 'TypeError', message: /at least one/ });
  assert.throws(broken({}), { name: 'TypeError', message: /at least one/ });
  assert.throws(broken({ origins: origin }), { name: 'TypeError', message: /list/ });
  assert.throws(broken({ origins: [origin, origin] }), { name: 'TypeError', message: /twice/ });
  assert.throws(broken({ origins: [origin, 'https://B.example'] }), {
    name: 'TypeError',
    message: /B\.example/,
  });
  assert.throws(broken({ origins: ['https://b\u00fccher.example'] }), TypeError);
  assert.throws(broken({ origins: [origin], trustproxy: ['::1'] }), {
    name: 'TypeError',
    message: /"trustproxy"/,
  });
  assert.throws(broken({ origins: [origin], trustProxy: ['loopback'] }), {
    name: 'TypeError',
    message: /"loopback"/,
  });
  assert.throws(broken({ origins: [origin], trustProxy: true }), TypeError);
});

type AdapterVector = {
  readonly id: string;
  readonly public_origin: string;
  readonly header_lines: readonly Line[];
  readonly expect: { readonly request_hash?: string; readonly error?: string };
};
const file = new URL('../../../vectors/http_request_binding_http1.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly http_server_adapter_partial: readonly AdapterVector[];
};

test('the published vectors of the server side: which authorities name our origin', () => {
  assert.equal(vectors.http_server_adapter_partial.length, 28);
  for (const vector of vectors.http_server_adapter_partial) {
    const lines = vector.header_lines.map(([name, value]): Line => [name.toLowerCase(), value]);
    const places = createPlaces({ origins: [vector.public_origin], trustProxy: 'any' });
    const outcome = told(places, lines);
    if (vector.expect.error === undefined) assert.equal(outcome, vector.public_origin, vector.id);
    else assert.match(outcome, /^request_malformed (?:host|:authority)$/, vector.id);
  }
});

test('B06, H10, R02: whatever the headers say, the answer is a configured origin or a refusal', () => {
  const origins = ['https://a.example', 'http://a.example', 'https://b.example:8443'];
  const name = fc.constantFrom(
    'host',
    ':authority',
    'x-forwarded-host',
    'x-forwarded-proto',
    'forwarded',
    'accept',
  );
  const good = fc.constantFrom(
    'a.example',
    'A.example:443',
    'a.example:80',
    'b.example:8443',
    'http',
    'https',
  );
  const hostile = fc.constantFrom(
    'victim.example',
    'u@a.example',
    'a.example/',
    'a.example\\',
    ',',
    'a.example,http',
    '',
  );
  const value = fc.oneof(good, hostile, fc.string({ unit: 'binary', maxLength: 12 }));
  const headers = fc.array(fc.tuple(name, value), { maxLength: 6 });
  const peer = fc.constantFrom(undefined, proxy, stranger, 'unknown');
  const trust = fc.constantFrom<readonly string[] | 'any'>([], [proxy], 'any');
  const seen = new Map<string, number>();
  const property = fc.property(headers, peer, trust, (lines, from, trustProxy) => {
    const outcome = told(createPlaces({ origins, trustProxy }), lines, from);
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    assert.ok(origins.includes(outcome) || /^(?:foreign_host|request_malformed \S+)$/.test(outcome), outcome);
    // What a stranger writes beside Host changes nothing.
    if (trustProxy !== 'any' && from !== proxy) {
      const own = lines.filter(([header]) => header === 'host' || header === ':authority');
      assert.equal(told(createPlaces({ origins }), own), outcome);
    }
  });
  fc.assert(property, { numRuns: 3000 });
  for (const one of [
    ...origins,
    'foreign_host',
    'request_malformed host',
    'request_malformed x-forwarded-host',
  ]) {
    assert.ok((seen.get(one) ?? 0) > 0, `nothing led to ${one}`);
  }
});
