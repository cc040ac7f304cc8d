import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bazaarResourceServerExtension,
  declareDiscoveryExtension,
  extractDiscoveryInfo,
  isValidRouteTemplate,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar';
import fc from 'fast-check';
import type { Json, JsonObject } from '../wire/v2.ts';
import {
  type BazaarOptions,
  declareBazaar,
  maxBazaarLength,
  withoutDetails,
  withoutOutput,
} from './bazaar.ts';

type Official = Parameters<typeof validateDiscoveryExtension>[0] &
  Parameters<typeof validateDiscoveryExtensionSpec>[0];

/** What a buyer reads out of the header and sends back. */
function sent(declaration: JsonObject): Official {
  return JSON.parse(JSON.stringify(declaration));
}

/** Both checks of the reference package: the rules of the specification, and `info` against its own schema. */
function assertAccepted(declaration: JsonObject, message?: string): void {
  assert.deepEqual(validateDiscoveryExtensionSpec(sent(declaration)), { valid: true }, message);
  assert.deepEqual(validateDiscoveryExtension(sent(declaration)), { valid: true }, message);
}

/** What the official server declares for a route, after it has seen a request. */
function official(
  config: Parameters<typeof declareDiscoveryExtension>[0],
  request: { readonly method: string; readonly path: string; readonly pattern?: string },
): unknown {
  const declared = declareDiscoveryExtension(config).bazaar;
  const enrich = bazaarResourceServerExtension.enrichDeclaration;
  assert.ok(enrich);
  const { method, path, pattern = path } = request;
  return enrich(declared, { method, routePattern: pattern, adapter: { getPath: () => path } });
}

/** What a facilitator's catalogue takes from a payment that carries the declaration. */
function catalogued(declaration: JsonObject, url: string): ReturnType<typeof extractDiscoveryInfo> {
  const payload = {
    x402Version: 2,
    resource: { url },
    accepted: {},
    payload: {},
    extensions: { bazaar: sent(declaration) },
  };
  const [first, second] = [payload, {}] as unknown as Parameters<typeof extractDiscoveryInfo>;
  return extractDiscoveryInfo(first, second);
}

const query = {
  example: { city: 'Paris', days: 3 },
  schema: {
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
    required: ['city'],
  },
};
const body = {
  example: { prompt: 'Hello', tokens: 16 },
  schema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
};
const output = { example: { sky: 'clear' }, schema: { properties: { sky: { type: 'string' } } } };

const full: BazaarOptions = {
  method: 'POST',
  path: '/models/:model/*',
  input: {
    query,
    pathParams: { example: { model: 'small', var1: 'chat' } },
    headers: { example: { 'accept-language': 'fr' } },
    body,
  },
  output: { type: 'json', format: 'utf-8', ...output },
};

test('for a GET with a query we declare what the official server declares', () => {
  const ours = declareBazaar({
    method: 'GET',
    path: '/weather',
    input: { query },
    output: { type: 'json', ...output },
  });
  const theirs = official(
    { input: query.example, inputSchema: query.schema, output },
    { method: 'GET', path: '/weather' },
  );
  assert.deepEqual(sent(ours), theirs);
  assertAccepted(ours);
});

test('for a POST with a JSON body we declare what the official server declares', () => {
  const ours = declareBazaar({
    method: 'POST',
    path: '/chat',
    input: { body },
    output: { type: 'json', ...output },
  });
  const theirs = official(
    { bodyType: 'json', input: body.example, inputSchema: body.schema, output },
    { method: 'POST', path: '/chat' },
  );
  assert.deepEqual(sent(ours), theirs);
  assertAccepted(ours);
});

test('for a route with parameters we declare what the official server declares for a request', () => {
  const ours = declareBazaar({
    method: 'GET',
    path: '/weather/:country/*',
    input: { query, pathParams: { example: { country: 'fr', var1: 'Paris' } } },
  });
  const theirs = official(
    { input: query.example, inputSchema: query.schema },
    { method: 'GET', path: '/weather/fr/Paris', pattern: '/weather/:country/*' },
  );
  assert.deepEqual(sent(ours), theirs);
  assertAccepted(ours);
});

test('a facilitator catalogues our route under its template and reads the input back', () => {
  const found = catalogued(declareBazaar(full), 'https://api.example.com/models/small/chat?x=1');
  assert.equal(found?.resourceUrl, 'https://api.example.com/models/:model/:var1');
  assert.deepEqual(found?.discoveryInfo, {
    input: {
      type: 'http',
      method: 'POST',
      bodyType: 'json',
      body: body.example,
      queryParams: query.example,
      pathParams: { model: 'small', var1: 'chat' },
      headers: { 'accept-language': 'fr' },
    },
    output: { type: 'json', format: 'utf-8', example: output.example },
  });
  const plain = catalogued(declareBazaar({ method: 'GET', path: '/a' }), 'https://api.example.com/a?b=c');
  assert.equal(plain?.resourceUrl, 'https://api.example.com/a');
});

test('every method, body type and combination of parts is accepted by the reference package', () => {
  const cases: readonly BazaarOptions[] = [
    ...['GET', 'HEAD', 'DELETE', 'POST', 'PUT', 'PATCH'].map((method) => ({ method, path: '/a' })),
    full,
    { method: 'GET', path: '/a', input: { query: { schema: query.schema } } },
    { method: 'GET', path: '/a', input: { query: { example: { q: '1' } }, headers: {} } },
    { method: 'GET', path: '/a/:b', input: { pathParams: { schema: { required: ['b'] } } } },
    { method: 'POST', path: '/a', input: { body: { example: [1, 2] } } },
    { method: 'POST', path: '/a', input: { bodyType: 'text', body: { example: 'plain text' } } },
    { method: 'PUT', path: '/a', input: { bodyType: 'form-data', body: { example: { file: 'a.png' } } } },
    { method: 'GET', path: '/a', output: { type: 'text' } },
    { method: 'GET', path: '/a', output: { type: 'json', example: [] } },
    { method: 'GET', path: '/a', output: { type: 'json', example: 0 } },
    { method: 'GET', path: '/a', output: { type: 'json', schema: { type: 'array', items: {} } } },
    { method: 'GET', path: '/a', output: { type: 'text', format: 'markdown', example: '# Tête' } },
  ];
  for (const options of cases) {
    const declared = declareBazaar(options);
    for (const shorter of [declared, withoutOutput(declared), withoutDetails(withoutOutput(declared))]) {
      assertAccepted(shorter, JSON.stringify(shorter));
      assert.ok(Object.isFrozen(shorter));
    }
  }
});

test('the schema refuses another method, another type and members that we did not declare', () => {
  const declared = declareBazaar(full);
  const change = (at: string, value: Json): Official => {
    const copy: { info: { input: { [key: string]: Json } } } = JSON.parse(JSON.stringify(declared));
    copy.info.input[at] = value;
    return copy as unknown as Official;
  };
  for (const [at, value] of [
    ['method', 'GET'],
    ['type', 'mcp'],
    ['bodyType', 'xml'],
    ['queryParams', {}],
    ['body', {}],
    ['headers', { a: 1 }],
    ['secret', 'x'],
  ] as const) {
    assert.equal(validateDiscoveryExtension(change(at, value)).valid, false, at);
  }
});

test('references inside a schema work where it is declared', () => {
  const schema = { $defs: { day: { type: 'integer' } }, properties: { days: { $ref: '#/$defs/day' } } };
  const declared = declareBazaar({
    method: 'GET',
    path: '/a',
    input: { query: { example: { days: 3 }, schema } },
  });
  assertAccepted(declared);
  const broken = JSON.parse(JSON.stringify(declared).replace('"days":3', '"days":"x"'));
  assert.match(String(validateDiscoveryExtension(broken).errors), /days: must be integer/);
});

test('a template is made where a path has parameters, and every one of them is a valid one', () => {
  const templateOf = (path: string): Json | undefined => declareBazaar({ method: 'GET', path }).routeTemplate;
  const cases: readonly (readonly [path: string, template: string | undefined])[] = [
    ['/', undefined],
    ['/weather', undefined],
    ['/v1/models:list', undefined],
    ['/*', undefined],
    ['/*/*', undefined],
    ['/*/', undefined],
    ['/files/*', '/files/:var1'],
    ['/:a/*/:var1/*', '/:a/:var2/:var1/:var3'],
    ['/caf%C3%A9/:id/', '/caf%C3%A9/:id/'],
    ['/a%2Fb/:id', '/a%2Fb/:id'],
    ['/a.b/~c_d-e/:_x9', '/a.b/~c_d-e/:_x9'],
  ];
  for (const [path, template] of cases) {
    assert.equal(templateOf(path), template, path);
    if (template !== undefined) assert.ok(isValidRouteTemplate(template), path);
  }
  for (const path of [
    'weather',
    '/:',
    '/:1',
    '/:a-b',
    '/:id.json',
    '/:a/:a',
    '/a*',
    '/**',
    '/x:y/:id',
    '/../:id',
    '/%2e%2e/:id',
    '/%2E%2E/:id',
    '/%252e/:id',
    '/http%3A//:id',
    '/%aa/:id',
    '/%zz/:id',
    '/café/:id',
    '/a b/:id',
    '/a?b=:id/:c',
  ]) {
    assert.throws(() => templateOf(path), TypeError, path);
  }
  const segment = fc.oneof(
    fc.constantFrom('*', ':a', ':b', '..', '%2e', '%2E.', 'x:', ''),
    fc.string({ unit: fc.constantFrom(...'ab.%2e5/:~+'), maxLength: 6 }),
  );
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
      let template: Json | undefined;
      try {
        template = templateOf(`/${segments.join('/')}`);
      } catch (fault) {
        assert.ok(fault instanceof TypeError);
      }
      if (typeof template === 'string') assert.ok(isValidRouteTemplate(template), template);
    }),
    { numRuns: 3000 },
  );
});

test('H13: a declaration has the members that it may have and no others', () => {
  const inner: readonly object[] = [
    { internal: 'x' },
    { input: { cookies: {} } },
    { input: { query: { example: {}, secret: 1 } } },
    { output: { type: 'json', host: 'db1' } },
  ];
  for (const extra of inner) {
    assert.throws(() => declareBazaar({ method: 'GET', path: '/a', ...extra }), {
      name: 'TypeError',
      message: /has no member/,
    });
  }
});

test('what a facilitator would leave out of its catalogue is a mistake at the start', () => {
  const wrong: readonly (readonly [why: RegExp, options: unknown])[] = [
    [/method "TRACE"/, { method: 'TRACE', path: '/a' }],
    [/method "get"/, { method: 'get', path: '/a' }],
    [/A GET has no body/, { method: 'GET', path: '/a', input: { body: { example: {} } } }],
    [/without a body/, { method: 'POST', path: '/a', input: { bodyType: 'json' } }],
    [/needs an example/, { method: 'POST', path: '/a', input: { body: { schema: {} } } }],
    [/none of text/, { method: 'POST', path: '/a', input: { bodyType: 'text', body: { example: {} } } }],
    [
      /none of form-data/,
      { method: 'POST', path: '/a', input: { bodyType: 'form-data', body: { example: 'a' } } },
    ],
    [/bodyType must be/, { method: 'POST', path: '/a', input: { bodyType: 'xml', body: { example: 'a' } } }],
    [/query.*city is missing/, { method: 'GET', path: '/a', input: { query: { ...query, example: {} } } }],
    [/queryParams/, { method: 'GET', path: '/a', input: { query: { example: ['a'] } } }],
    [
      /no parameter "town"/,
      { method: 'GET', path: '/:city', input: { pathParams: { example: { town: 'x' } } } },
    ],
    [/no parameters/, { method: 'GET', path: '/city', input: { pathParams: {} } }],
    [/Header examples/, { method: 'GET', path: '/a', input: { headers: { example: { 'x y': 'a' } } } }],
    [/Header examples/, { method: 'GET', path: '/a', input: { headers: { example: { x: 'a\r\nb: c' } } } }],
    [/Header examples/, { method: 'GET', path: '/a', input: { headers: { example: { x: 1 } } } }],
    [/output/, { method: 'GET', path: '/a', output: { type: '' } }],
    [/output/, { method: 'GET', path: '/a', output: { type: 'json', format: 'tête' } }],
    [
      /output has another type/,
      { method: 'GET', path: '/a', output: { type: 'json', example: [], schema: { properties: {} } } },
    ],
    [/must be an object/, { method: 'GET', path: '/a', output: { type: 'json', schema: 'string' } }],
    [
      /only refer to itself/,
      { method: 'GET', path: '/a', output: { type: 'json', schema: { $ref: 'https://x.example/s' } } },
    ],
    [
      /2020-12/,
      {
        method: 'GET',
        path: '/a',
        output: { type: 'json', schema: { $schema: 'http://json-schema.org/draft-07/schema#' } },
      },
    ],
  ];
  for (const [why, options] of wrong) {
    assert.throws(() => declareBazaar(options as BazaarOptions), { name: 'TypeError', message: why });
  }
});

test('what a strict reader would refuse is a mistake at the start', () => {
  const circle: { [key: string]: unknown } = {};
  circle.circle = circle;
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  for (const example of [
    circle,
    nested(28),
    { big: 2 ** 53 },
    { unit: 1n },
    { text: '\ud83e' },
    JSON.parse('{"__proto__": 1}'),
    { constructor: 1 },
    Symbol('x'),
    () => 1,
  ]) {
    assert.throws(
      () => declareBazaar({ method: 'GET', path: '/a', output: { type: 'json', example } } as BazaarOptions),
      TypeError,
    );
  }
  const deepest = { type: 'json', example: nested(27) } as BazaarOptions['output'] & object;
  assert.doesNotThrow(() => declareBazaar({ method: 'GET', path: '/a', output: deepest }));
});

test('H09: a declaration of 6,144 octets can be declared and one octet more cannot', () => {
  const withText = (length: number): JsonObject =>
    declareBazaar({ method: 'GET', path: '/a', output: { type: 'text', example: 'a'.repeat(length) } });
  const rest = JSON.stringify(withText(0)).length;
  const fitting = maxBazaarLength - rest;
  assert.equal(JSON.stringify(withText(fitting - 1)).length, maxBazaarLength - 1);
  assert.equal(JSON.stringify(withText(fitting)).length, maxBazaarLength);
  assert.throws(() => withText(fitting + 1), { name: 'TypeError', message: /6145 octets/ });
});

test('a shortened declaration loses the answer first, then the details of the input, and nothing else', () => {
  const declared = declareBazaar(full);
  const silent = withoutOutput(declared);
  assert.deepEqual(
    sent(silent),
    sent(declareBazaar({ method: full.method, path: full.path, input: full.input ?? {} })),
  );
  const bare = withoutDetails(silent);
  assert.deepEqual(sent(bare).info, sent(silent).info);
  assert.equal(bare.routeTemplate, declared.routeTemplate);
  const sizes = [declared, silent, bare].map((one) => JSON.stringify(one).length);
  assert.ok(sizes[0] !== undefined && sizes[1] !== undefined && sizes[2] !== undefined);
  assert.ok(sizes[0] > sizes[1] && sizes[1] > sizes[2], String(sizes));

  assert.equal(withoutOutput(bare), bare);
  assert.equal(withoutDetails(bare), bare);
});

test('a declaration that the official server made is shortened just as well, and an odd one does no harm', () => {
  const tool = declareDiscoveryExtension({
    toolName: 'ask',
    inputSchema: { type: 'object' },
    output: { example: { a: 1 } },
  });
  const shorter = withoutDetails(
    withoutOutput(sent(tool.bazaar as unknown as JsonObject) as unknown as JsonObject),
  );
  assertAccepted(shorter);
  assert.equal('output' in sent(shorter).info, false);
  for (const odd of [
    {},
    { info: 1, schema: [] },
    { info: {}, schema: { properties: { input: null, output: 1 }, required: 'x' } },
  ] as const) {
    assert.doesNotThrow(() => withoutDetails(withoutOutput(odd)));
  }
  const strict = {
    info: { input: {}, output: {} },
    schema: { properties: { output: {} }, required: ['input', 'output'] },
  };
  assert.deepEqual(withoutOutput(strict), {
    info: { input: {} },
    schema: { properties: {}, required: ['input'] },
  });
});
