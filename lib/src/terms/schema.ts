/**
 * JSON Schema 2020-12 as far as a declaration needs it. A schema that is set into another keeps its references,
 * which may only point into the same document (bazaar, schema validation); and an example that plainly breaks its
 * schema is found before a facilitator silently leaves it out of its catalogue.
 */
import { isJsonObject } from '../wire/json.ts';
import type { Json, JsonObject } from '../wire/v2.ts';

/** The one dialect that a declaration may use. */
export const schemaDialect = 'https://json-schema.org/draft/2020-12/schema';

/** Keywords whose members are named by the schema's author, not by JSON Schema. */
const maps: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);
/** Keywords whose values are data and no schemas. */
const literals: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);
const references: ReadonlySet<string> = new Set(['$dynamicRef', '$recursiveRef', '$ref']);

/** Where a schema will stand: its name for people, and the JSON Pointer to it in the whole document. */
export type SchemaPlace = { readonly name: string; readonly pointer: string };

/**
 * The schema as it stands inside the document at `place`: without its own `$schema`, with its references counted
 * from the document's root. Another dialect, an `$id` or a reference out of the document is a TypeError.
 */
export function embedSchema(schema: JsonObject, place: SchemaPlace): JsonObject {
  const { $schema: dialect, ...rest } = schema;
  if (dialect !== undefined && dialect !== schemaDialect) {
    throw new TypeError(`The schema of ${place.name} must be JSON Schema 2020-12.`);
  }
  checkReferences(rest, place);
  return rebase(rest, place.pointer);
}

/** Looked for in data too, because facilitators do not tell data from schemas when they look. */
function checkReferences(value: Json, place: SchemaPlace): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const inside = typeof member === 'string' && member.startsWith('#');
    if (key === '$id' || (references.has(key) && !inside)) {
      throw new TypeError(
        `The schema of ${place.name} may only refer to itself with "#…", not use ${key} otherwise.`,
      );
    }
    checkReferences(member, place);
  }
}

function rebase(schema: JsonObject, pointer: string): JsonObject {
  return mapMembers(schema, (key, member) => {
    if (literals.has(key)) return member;
    if (references.has(key) && typeof member === 'string') return rebaseReference(member, pointer);
    if (maps.has(key) && isJsonObject(member))
      return mapMembers(member, (_, inner) => rebaseAny(inner, pointer));
    return rebaseAny(member, pointer);
  });
}

function rebaseAny(value: Json, pointer: string): Json {
  if (isJsonObject(value)) return rebase(value, pointer);
  return isList(value) ? value.map((item) => rebaseAny(item, pointer)) : value;
}

/** `#` and `#/…` count from the root of the document; `#name` is found by its anchor wherever it stands. */
function rebaseReference(reference: string, pointer: string): string {
  return reference === '#' || reference.startsWith('#/') ? `#${pointer}${reference.slice(1)}` : reference;
}

function mapMembers(object: JsonObject, change: (key: string, value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(key, value)]));
}

/**
 * Says where an example certainly breaks its schema, or undefined. Only keywords that can be judged by themselves
 * are judged, so undefined does not mean that a full validator would agree.
 */
export function findContradiction(example: Json, schema: Json, path: string): string | undefined {
  if (schema === false) return `${path} is not allowed`;
  if (!isJsonObject(schema)) return undefined;
  if (!hasType(example, schema.type)) return `${path} has another type`;
  if (!isListed(example, schema)) return `${path} is none of the values allowed`;
  if (isList(example)) return inItems(example, schema, path);
  return isJsonObject(example) ? inMembers(example, schema, path) : undefined;
}

/** The type of a value in JSON Schema's words. */
export function schemaTypeOf(value: Json): string {
  if (value === null) return 'null';
  return isList(value) ? 'array' : typeof value;
}

function hasType(value: Json, type: Json | undefined): boolean {
  if (type === undefined) return true;
  const allowed: readonly Json[] = isList(type) ? type : [type];
  const integer = allowed.includes('integer') && typeof value === 'number' && Number.isInteger(value);
  return integer || allowed.includes(schemaTypeOf(value));
}

function isListed(value: Json, schema: JsonObject): boolean {
  const { const: only, enum: list } = schema;
  // Whether two objects are equal is left to the validator.
  if (typeof value === 'object' && value !== null) return true;
  return (only === undefined || only === value) && (!isList(list) || list.includes(value));
}

function inItems(list: readonly Json[], schema: JsonObject, path: string): string | undefined {
  const { items, prefixItems } = schema;
  if (items === undefined || prefixItems !== undefined) return undefined;
  return firstOf(list.entries(), ([index, item]) => findContradiction(item, items, `${path}[${index}]`));
}

function inMembers(object: JsonObject, schema: JsonObject, path: string): string | undefined {
  const { properties, required, additionalProperties, patternProperties } = schema;
  const known: JsonObject = isJsonObject(properties) ? properties : {};
  const missing = isList(required)
    ? required.find((name) => typeof name === 'string' && !Object.hasOwn(object, name))
    : undefined;
  if (missing !== undefined) return `${path}.${String(missing)} is missing`;
  return firstOf(Object.entries(object), ([name, member]) => {
    const inner = Object.hasOwn(known, name) ? known[name] : undefined;
    if (inner !== undefined) return findContradiction(member, inner, `${path}.${name}`);
    const closed = additionalProperties === false && patternProperties === undefined;
    return closed ? `${path}.${name} is not allowed` : undefined;
  });
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
