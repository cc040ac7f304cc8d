import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateDiscoveryExtension } from '@x402/extensions/bazaar';
import fc from 'fast-check';
import type { Json, JsonObject } from '../wire/v2.ts';
import { embedSchema, findContradiction, schemaTypeOf } from './schema.ts';

const place = { name: 'query', pointer: '/properties/input/properties/queryParams' };
const here = '#/properties/input/properties/queryParams';

/** The judgement of a full validator, the one that the reference package uses. */
function isValid(example: Json, schema: Json): boolean {
  const wrapped = { type: 'object', properties: { value: schema } };
  const extension = { info: { value: example }, schema: wrapped };
  return validateDiscoveryExtension(extension as unknown as Parameters<typeof validateDiscoveryExtension>[0])
    .valid;
}

test('a reference of an embedded schema still points at what it pointed at', () => {
  const embedded = embedSchema(
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { city: { type: 'string' }, tree: { properties: { next: { $ref: '#' } } } },
      properties: {
        from: { $ref: '#/$defs/city' },
        stops: {
          type: 'array',
          prefixItems: [{ $ref: '#/$defs/city' }],
          items: { anyOf: [{ $ref: '#/$defs/tree' }] },
        },
        named: { $ref: '#anchor' },
        enum: { $ref: '#/$defs/city' },
      },
      default: { $ref: '#/stays/as/data' },
    },
    place,
  );
  assert.deepEqual(embedded, {
    $defs: { city: { type: 'string' }, tree: { properties: { next: { $ref: here } } } },
    properties: {
      from: { $ref: `${here}/$defs/city` },
      stops: {
        type: 'array',
        prefixItems: [{ $ref: `${here}/$defs/city` }],
        items: { anyOf: [{ $ref: `${here}/$defs/tree` }] },
      },
      named: { $ref: '#anchor' },
      enum: { $ref: `${here}/$defs/city` },
    },
    default: { $ref: '#/stays/as/data' },
  });
});

test('a reference out of the document, an $id and another dialect are mistakes', () => {
  const wrong: readonly JsonObject[] = [
    { $ref: 'https://example.com/schema.json' },
    { $ref: 'file:///etc/passwd' },
    { $ref: 'other.json#/a' },
    { $ref: '' },
    { $dynamicRef: 'other#a' },
    { $id: '#a' },
    { $id: 'https://example.com/' },
    { properties: { a: { allOf: [{ $ref: '/a' }] } } },
    { properties: { $ref: { type: 'string' } } },
    { const: { $id: 'x' } },
    { $schema: 'http://json-schema.org/draft-07/schema#' },
  ];
  for (const schema of wrong) {
    assert.throws(
      () => embedSchema(schema, place),
      { name: 'TypeError', message: /query/ },
      JSON.stringify(schema),
    );
  }
});

test('an example that plainly breaks its schema is found and named', () => {
  const cases: readonly (readonly [example: Json, schema: Json, fault: string])[] = [
    [1, { type: 'string' }, 'q has another type'],
    [null, { type: ['string', 'number'] }, 'q has another type'],
    [1.5, { type: 'integer' }, 'q has another type'],
    ['c', { enum: ['a', 'b'] }, 'q is none of the values allowed'],
    ['c', { const: 'a' }, 'q is none of the values allowed'],
    [{}, { required: ['city'] }, 'q.city is missing'],
    [{ city: 1 }, { properties: { city: { type: 'string' } } }, 'q.city has another type'],
    [{ town: 'x' }, { properties: { city: {} }, additionalProperties: false }, 'q.town is not allowed'],
    [
      { a: { b: [1, 'x'] } },
      { properties: { a: { properties: { b: { items: { type: 'number' } } } } } },
      'q.a.b[1] has another type',
    ],
    [{ a: 1 }, { properties: { a: false } }, 'q.a is not allowed'],
  ];
  for (const [example, schema, fault] of cases) {
    assert.equal(findContradiction(example, schema, 'q'), fault);
    assert.equal(isValid(example, schema), false, fault);
  }
});

test('what a keyword alone cannot judge is no contradiction', () => {
  const fine: readonly (readonly [example: Json, schema: Json])[] = [
    [1, { type: 'integer' }],
    [1, { type: 'number' }],
    [2.5, { type: ['integer', 'number'] }],
    [{ a: 1 }, { additionalProperties: false, patternProperties: { '^a$': {} } }],
    [['x', 1], { prefixItems: [{ type: 'string' }], items: { type: 'number' } }],
    [{ toString: 1 }, { properties: {} }],
    [{}, { properties: { a: { type: 'string' } } }],
    ['x', { minLength: 1 }],
    ['x', true],
  ];
  for (const [example, schema] of fine) {
    assert.equal(findContradiction(example, schema, 'q'), undefined, JSON.stringify(schema));
    assert.equal(isValid(example, schema), true, JSON.stringify(schema));
  }
  assert.equal(findContradiction({ a: 1 }, { const: { a: 2 } }, 'q'), undefined);
});

test('whatever is called a contradiction, a full validator refuses too', () => {
  const names = fc.constantFrom('a', 'b', 'c');
  const leaf = fc.oneof(
    fc.integer({ min: -2, max: 2 }),
    fc.constant(1.5),
    fc.boolean(),
    fc.constant(null),
    names,
  );
  const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object');
  const { value, schema } = fc.letrec<{ value: Json; schema: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2 },
      leaf,
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
    schema: fc.oneof(
      { maxDepth: 2 },
      fc.boolean(),
      fc.record(
        {
          type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
          enum: fc.uniqueArray(leaf, { minLength: 1, maxLength: 3 }),
          const: leaf,
          required: fc.uniqueArray(names, { maxLength: 2 }),
          properties: fc.dictionary(names, tie('schema'), { maxKeys: 2, noNullPrototype: true }),
          additionalProperties: fc.boolean(),
          items: tie('schema'),
        },
        { requiredKeys: [] },
      ),
    ),
  }));
  let found = 0;
  fc.assert(
    fc.property(value, schema, (example, judge) => {
      if (findContradiction(example, judge, 'q') === undefined) return;
      found += 1;
      assert.equal(isValid(example, judge), false);
    }),
    { numRuns: 150 },
  );
  assert.ok(found > 0);
});

test('types have the names of JSON Schema', () => {
  assert.deepEqual([null, [], {}, 'a', 1, true].map(schemaTypeOf), [
    'null',
    'array',
    'object',
    'string',
    'number',
    'boolean',
  ]);
});
