/**
 * The bazaar declaration of an HTTP route: how to call it, with examples and their JSON Schema, for catalogues and
 * agents (formats 9.2). It travels in a header with every 402 and comes back with every payment, so it says
 * everything once; its schema has the form that the reference package writes.
 */
import { describeJsonFault, isJsonObject, parseJson } from '../wire/json.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import type { Json, JsonObject } from '../wire/v2.ts';
import { embedSchema, findContradiction, schemaDialect, schemaTypeOf } from './schema.ts';

/** The extension's key in `extensions`. */
export const bazaarKey = 'bazaar';

/** A part of a request or an answer: what it looks like, what it must be, or both. */
export type BazaarPart<Example extends Json = JsonObject> = {
  readonly example?: Example;
  /** JSON Schema 2020-12; its references stay inside it. */
  readonly schema?: JsonObject;
};

export type BazaarInput = {
  readonly query?: BazaarPart;
  /** Values of the route's `:name` segments; `*` segments are named var1, var2, … */
  readonly pathParams?: BazaarPart;
  readonly headers?: BazaarPart<{ readonly [name: string]: string }>;
  /** Default `json` where there is a body. */
  readonly bodyType?: 'json' | 'form-data' | 'text';
  /** Facilitators ask for an example. */
  readonly body?: BazaarPart<Json>;
};

export type BazaarOutput = BazaarPart<Json> & {
  /** As `json` or `text`. */
  readonly type: string;
  readonly format?: string;
};

export type BazaarOptions = {
  /** GET, HEAD or DELETE; POST, PUT or PATCH, which alone may have a body. */
  readonly method: string;
  /** The route's pattern, with `:name` and `*` as whole segments. */
  readonly path: string;
  readonly input?: BazaarInput;
  readonly output?: BazaarOutput;
};

/** Octets of JSON: as base64 they fill the 8 KiB beyond which no 402 is sent (design 4). */
export const maxBazaarLength = 6144;
const maxLabelLength = 64;

const queryMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);
const bodyMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
const bodyTypes: readonly string[] = ['json', 'form-data', 'text'];
const label = /^[ -~]{1,64}$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** The characters of a template. */
const templateText = /^\/[A-Za-z0-9_/:.~%-]+$/;
const parameter = /^:[A-Za-z_][A-Za-z0-9_]*$/;

/** A part on its way into the declaration, under its name on the wire. */
type Entry = { readonly name: string; readonly example: Json | undefined; readonly schema: JsonObject };

/**
 * Builds the value of `extensions.bazaar`: `{ info, schema, routeTemplate? }`, frozen, for use with every 402 of the
 * route. Whatever a facilitator would refuse and this can see is a TypeError: a method, a template, a reference out
 * of the document, an example that breaks its schema, more than {@link maxBazaarLength} octets.
 *
 * @example
 * declareBazaar({
 *   method: 'GET',
 *   path: '/weather/:city',
 *   input: { query: { example: { days: 3 }, schema: { properties: { days: { type: 'integer' } } } } },
 *   output: { type: 'json', example: { sky: 'clear' } },
 * });
 */
export function declareBazaar(options: BazaarOptions): JsonObject {
  checkKeys(options, ['method', 'path', 'input', 'output'], 'A bazaar declaration');
  const { method, path, input = {}, output } = options;
  if (!queryMethods.has(method) && !bodyMethods.has(method)) {
    throw new TypeError(`A bazaar declaration cannot have the method "${method}".`);
  }
  const route = readPath(path);
  const bodyType = readBodyType(method, input);
  const entries = readInput(input, route.names, bodyType);
  const answer = output === undefined ? undefined : readOutput(output);
  const info = {
    input: { type: 'http', method, ...bodyType, ...examplesOf(entries) },
    ...(answer === undefined ? {} : { output: answer.info }),
  };
  return checked({
    info,
    schema: schemaOf({ method, bodyType, entries, output: answer?.schema }),
    ...(route.template === undefined ? {} : { routeTemplate: route.template }),
  });
}

/** The declaration without what the answer looks like; the same object where it says nothing of it. */
export function withoutOutput(declaration: JsonObject): JsonObject {
  const told = changeAt(declaration, ['info', 'output'], () => undefined);
  const described = changeAt(told, ['schema', 'properties', 'output'], () => undefined);
  return changeAt(described, ['schema', 'required'], (required) =>
    Array.isArray(required) && required.includes('output')
      ? required.filter((name) => name !== 'output')
      : required,
  );
}

/** The declaration with the examples of its input and only the outermost type of each; the same object where that is all. */
export function withoutDetails(declaration: JsonObject): JsonObject {
  let shorter = declaration;
  for (const part of ['queryParams', 'pathParams', 'headers', 'body']) {
    shorter = changeAt(shorter, ['schema', 'properties', 'input', 'properties', part], outermost);
  }
  return shorter;
}

function outermost(schema: Json): Json {
  if (!isJsonObject(schema) || Object.keys(schema).every((key) => key === 'type')) return schema;
  const { type } = schema;
  return type === undefined ? {} : { type };
}

/** Changes one member deep inside, or takes it out where `change` returns undefined; the rest is shared. */
function changeAt(
  object: JsonObject,
  path: readonly [string, ...string[]],
  change: (value: Json) => Json | undefined,
): JsonObject {
  const [key, ...deeper] = path;
  const value = object[key];
  if (value === undefined) return object;
  const [next, ...rest] = deeper;
  const inner = isJsonObject(value) && next !== undefined ? changeAt(value, [next, ...rest], change) : value;
  const changed = next === undefined ? change(value) : inner;
  if (changed === value) return object;
  const { [key]: _, ...others } = object;
  return Object.freeze(changed === undefined ? others : { ...object, [key]: changed });
}

/** The template and the names of its parameters; a path without parameters needs no template. */
function readPath(path: string): { readonly template?: string; readonly names: readonly string[] } {
  if (!path.startsWith('/')) throw new TypeError('A path starts with "/".');
  const segments = path.slice(1).split('/');
  if (!segments.some((segment) => segment.includes('*') || segment.startsWith(':'))) return { names: [] };
  // A pattern for every path is no entry of a catalogue.
  if (segments.every((segment) => segment === '*' || segment === '')) return { names: [] };
  const names = segments.filter((segment) => parameter.test(segment)).map((segment) => segment.slice(1));
  const named = segments.map((segment) => (segment === '*' ? `:${inventName(names)}` : segment));
  const template = `/${named.join('/')}`;
  const literal = named.filter((segment) => !parameter.test(segment)).join('/');
  if (!isTemplate(template) || literal.includes(':') || new Set(names).size < names.length) {
    throw new TypeError(`The path "${path}" cannot be a route template.`);
  }
  return { template, names };
}

/** The rules that a facilitator tests a template by; an escape inside an escape is refused instead of followed. */
function isTemplate(template: string): boolean {
  if (!templateText.test(template)) return false;
  try {
    return !/%|\.\.|:\/\//.test(decodeURIComponent(template));
  } catch {
    return false;
  }
}

/** Names of the reference package, counted on past those that the path uses itself; the new one is noted. */
function inventName(names: string[]): string {
  let count = 1;
  while (names.includes(`var${count}`)) count += 1;
  names.push(`var${count}`);
  return `var${count}`;
}

function readBodyType(method: string, input: BazaarInput): { readonly bodyType?: string } {
  const { bodyType, body } = input;
  if (body === undefined) {
    if (bodyType !== undefined) throw new TypeError('bodyType says nothing without a body.');
    return {};
  }
  if (!bodyMethods.has(method)) throw new TypeError(`A ${method} has no body.`);
  const type: string = bodyType ?? 'json';
  if (!bodyTypes.includes(type)) throw new TypeError(`bodyType must be one of ${bodyTypes.join(', ')}.`);
  return { bodyType: type };
}

function readInput(
  input: BazaarInput,
  names: readonly string[],
  { bodyType }: { readonly bodyType?: string },
): readonly Entry[] {
  checkKeys(input, ['query', 'pathParams', 'headers', 'bodyType', 'body'], 'The input');
  const { query, pathParams, headers, body } = input;
  const entries: Entry[] = [];
  if (body !== undefined) {
    const entry = readPart('body', body, {});
    checkBody(entry.example, bodyType);
    entries.push(entry);
  }
  if (query !== undefined) entries.push(checkObject(readPart('queryParams', query, { type: 'object' })));
  if (pathParams !== undefined) {
    const entry = checkObject(readPart('pathParams', pathParams, { type: 'object' }));
    const stranger = Object.keys(entry.example ?? {}).find((name) => !names.includes(name));
    if (stranger !== undefined) throw new TypeError(`The path has no parameter "${stranger}".`);
    if (names.length === 0) throw new TypeError('The path has no parameters.');
    entries.push(entry);
  }
  if (headers !== undefined) {
    const texts = headers.schema === undefined ? { additionalProperties: { type: 'string' } } : {};
    const entry = checkObject(readPart('headers', headers, { type: 'object', ...texts }));
    for (const [name, value] of Object.entries(entry.example ?? {})) checkHeader(name, value);
    entries.push(entry);
  }
  return entries;
}

function checkBody(example: Json | undefined, bodyType: string | undefined): void {
  if (example === undefined) {
    throw new TypeError('A body needs an example: facilitators list no route without one.');
  }
  if (bodyType === 'text' ? typeof example !== 'string' : bodyType !== 'json' && !isJsonObject(example)) {
    throw new TypeError(`The example of body is none of ${bodyType}.`);
  }
}

function checkObject(entry: Entry): Entry {
  if (entry.example === undefined || isJsonObject(entry.example)) return entry;
  throw new TypeError(`The example of ${entry.name} must be an object.`);
}

function checkHeader(name: string, value: unknown): void {
  if (!headerName.test(name) || typeof value !== 'string' || !/^[ -~]*$/.test(value)) {
    throw new TypeError('Header examples are names with values of printable ASCII.');
  }
}

/** `base` holds what the schema says at least; a body's example gives its own type where no schema does. */
function readPart(name: string, part: BazaarPart<Json>, base: JsonObject): Entry {
  checkKeys(part, ['example', 'schema'], name);
  const example = part.example === undefined ? undefined : plain(part.example, name);
  const pointer = `/properties/input/properties/${name}`;
  const given = part.schema === undefined ? undefined : embedded(part.schema, { name, pointer });
  const type = name === 'body' && given === undefined && example !== undefined ? typeOf(example) : {};
  const schema: JsonObject = { ...base, ...type, ...given };
  checkExample(example, schema, name);
  return { name, example, schema };
}

function readOutput(output: BazaarOutput): { readonly info: JsonObject; readonly schema: JsonObject } {
  checkKeys(output, ['type', 'format', 'example', 'schema'], 'The output');
  const { type, format, schema } = output;
  for (const text of [type, format ?? type]) {
    if (typeof text !== 'string' || !label.test(text)) {
      throw new TypeError(`type and format of the output are 1 to ${maxLabelLength} printable characters.`);
    }
  }
  const example = output.example === undefined ? undefined : plain(output.example, 'output');
  const described = describedOutput(example, schema);
  checkExample(example, described ?? true, 'output');
  return {
    info: {
      type,
      ...(format === undefined ? {} : { format }),
      ...(example === undefined ? {} : { example }),
    },
    schema: {
      type: 'object',
      properties: {
        type: { type: 'string' },
        ...(described === undefined ? {} : { example: described }),
      },
      required: ['type'],
    },
  };
}

function describedOutput(example: Json | undefined, schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined) return example === undefined ? undefined : typeOf(example);
  const given = embedded(schema, { name: 'output', pointer: '/properties/output/properties/example' });
  // The reference package takes every example for an object; that is said only where members are described.
  return isJsonObject(given.properties) ? { type: 'object', ...given } : given;
}

function schemaOf(parts: {
  readonly method: string;
  readonly bodyType: { readonly bodyType?: string };
  readonly entries: readonly Entry[];
  readonly output: JsonObject | undefined;
}): JsonObject {
  const { method, entries, output } = parts;
  const hasBody = parts.bodyType.bodyType !== undefined;
  return {
    $schema: schemaDialect,
    type: 'object',
    properties: {
      input: {
        type: 'object',
        properties: {
          type: { type: 'string', const: 'http' },
          method: { type: 'string', enum: [method] },
          ...(hasBody ? { bodyType: { type: 'string', enum: bodyTypes } } : {}),
          ...Object.fromEntries(entries.map(({ name, schema }) => [name, schema])),
        },
        required: ['type', 'method', ...(hasBody ? ['bodyType', 'body'] : [])],
        additionalProperties: false,
      },
      ...(output === undefined ? {} : { output }),
    },
    required: ['input'],
  };
}

function examplesOf(entries: readonly Entry[]): JsonObject {
  const examples: [string, Json][] = [];
  for (const { name, example } of entries) if (example !== undefined) examples.push([name, example]);
  return Object.fromEntries(examples);
}

function typeOf(example: Json): JsonObject {
  return { type: schemaTypeOf(example) };
}

function checkExample(example: Json | undefined, schema: Json, name: string): void {
  const fault = example === undefined ? undefined : findContradiction(example, schema, name);
  if (fault !== undefined) throw new TypeError(`An example breaks its schema: ${fault}.`);
}

function embedded(schema: unknown, place: { readonly name: string; readonly pointer: string }): JsonObject {
  const read = plain(schema, `the schema of ${place.name}`);
  if (!isJsonObject(read)) throw new TypeError(`The schema of ${place.name} must be an object.`);
  return embedSchema(read, place);
}

/** A frozen copy as a strict reader will see it: what such a reader refuses is no part of a declaration. */
function plain(value: unknown, name: string): Json {
  const text: string | undefined = JSON.stringify(value);
  const read = text === undefined ? undefined : parseJson(text);
  if (read?.ok) return read.value;
  throw new TypeError(
    `${name} is not plain JSON${read === undefined ? '' : ` (${describeJsonFault(read)})`}.`,
  );
}

/** Read back where it will stand in the message, since the depth of the whole is limited. */
function checked(declaration: JsonObject): JsonObject {
  const octets = encodeUtf8(JSON.stringify(declaration)).length;
  if (octets > maxBazaarLength) {
    throw new TypeError(
      `The bazaar declaration has ${octets} octets; at most ${maxBazaarLength} can be sent.`,
    );
  }
  const message = plain({ extensions: { [bazaarKey]: declaration } }, 'The bazaar declaration');
  const extensions = isJsonObject(message) ? message.extensions : undefined;
  const read = isJsonObject(extensions) ? extensions[bazaarKey] : undefined;
  return isJsonObject(read) ? read : declaration;
}

function checkKeys(value: object, allowed: readonly string[], what: string): void {
  for (const key of Object.keys(value)) {
    if (!allowed.includes(key)) throw new TypeError(`${what} has no member "${key}".`);
  }
}
