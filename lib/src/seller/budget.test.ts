import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import fc from 'fast-check';
import { declareBazaar } from '../terms/bazaar.ts';
import { declarePaymentIdentifier } from '../terms/identifier.ts';
import { describeResource } from '../terms/resource.ts';
import { encodePaymentRequired } from '../wire/index.ts';
import type { JsonObject, PaymentRequired, PaymentRequirements, ResourceInfo } from '../wire/v2.ts';
import {
  fieldSize,
  fitRequired,
  maxPaidFieldsLength,
  maxRequiredLength,
  shortenFields,
  warnRequiredLength,
} from './budget.ts';
import type { HeaderList } from './message.ts';

const url = 'https://api.example.com/weather';
const commitment: JsonObject = { info: { required: true, requestDigest: 'd'.repeat(64) } };

function requirement(chainId: number): PaymentRequirements {
  return {
    scheme: 'exact',
    network: `eip155:${chainId}`,
    amount: 10_000n,
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    payTo: '0x00000000000000000000000000000000000beef1',
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
  };
}

const bazaar = declareBazaar({
  method: 'POST',
  path: '/weather/:city',
  input: {
    query: {
      example: { days: 3 },
      schema: { properties: { days: { type: 'integer', minimum: 1, maximum: 14 } }, required: ['days'] },
    },
    body: {
      example: { prompt: 'Will it rain?' },
      schema: { type: 'object', properties: { prompt: { type: 'string', maxLength: 4096 } } },
    },
  },
  output: { type: 'json', example: { sky: 'clear', hours: [1, 2, 3] } },
});

const whole: Omit<ResourceInfo, 'url'> = describeResource({
  description: 'The weather of the next days for a city, hour by hour. '.repeat(9),
  mimeType: 'application/json',
  serviceName: 'Example Weather',
  tags: ['weather', 'forecast', 'climate', 'rain', 'sun'],
  iconUrl: `https://cdn.example.com/${'i'.repeat(120)}.png`,
}).resource;

/** A 402 with everything that one can carry, as large as its ways to pay make it. */
function message(networks: number, resource: Omit<ResourceInfo, 'url'> = whole): PaymentRequired {
  return {
    x402Version: 2,
    error: 'payment_required',
    resource: { url, ...resource },
    accepts: Array.from({ length: networks }, (_, index) => requirement(index + 1)),
    extensions: {
      bazaar,
      'payment-identifier': declarePaymentIdentifier(true),
      'evm-request-commitment': commitment,
    },
  };
}

/** Without what may go: what must be in every 402. */
function core(sent: PaymentRequired): unknown {
  const { url: at, mimeType } = sent.resource;
  const { bazaar: _, ...extensions } = sent.extensions ?? {};
  return { ...sent, resource: { url: at, mimeType }, extensions };
}

/** A codec whose header is exactly as long as the error of the message, so that sizes can be chosen. */
function sized(extra: (sent: PaymentRequired) => number): (sent: PaymentRequired) => string {
  return (sent) => 'x'.repeat(extra(sent));
}

test('a 402 that fits is encoded once and leaves as it is', () => {
  let encodes = 0;
  const fitted = fitRequired(message(1, {}), (sent) => {
    encodes += 1;
    return encodePaymentRequired(sent);
  });
  const header = encodePaymentRequired(message(1, {}));
  assert.deepEqual(fitted, { header, dropped: [], size: header.length });
  assert.equal(encodes, 1);
});

test('H09: at 3,072 octets nothing goes, and one octet more takes the icon', () => {
  const at = (length: number): unknown => {
    const fitted = fitRequired(
      message(1),
      sized(({ resource }) => (resource.iconUrl === undefined ? 100 : length)),
    );
    return 'dropped' in fitted ? fitted.dropped : fitted;
  };
  assert.deepEqual(at(warnRequiredLength - 1), []);
  assert.deepEqual(at(warnRequiredLength), []);
  assert.deepEqual(at(warnRequiredLength + 1), ['resource.iconUrl']);
});

test('H09: at 8,192 octets a 402 is sent bare, and one octet more is too large', () => {
  for (const [length, expected] of [
    [maxRequiredLength - 1, maxRequiredLength - 1],
    [maxRequiredLength, maxRequiredLength],
    [maxRequiredLength + 1, { tooLarge: maxRequiredLength + 1 }],
  ] as const) {
    const fitted = fitRequired(
      message(1),
      sized(() => length),
    );
    assert.deepEqual('tooLarge' in fitted ? fitted : fitted.size, expected);
  }
});

test('H09: metadata goes in the order of its use to the payer, and only as much as it takes', () => {
  const order = [
    'resource.iconUrl',
    'extensions.bazaar.info.output',
    'extensions.bazaar.schema',
    'resource.tags',
    'resource.serviceName',
    'extensions.bazaar',
    'resource.description',
  ];
  // Every size between the bare message and the whole one is asked for, by a smaller and smaller allowance.
  const full = encodePaymentRequired(message(1)).length;
  const seen = new Set<string>();
  for (let allowance = full; allowance > 0; allowance -= 4) {
    const shift = warnRequiredLength - allowance;
    const fitted = fitRequired(message(1), (sent) =>
      'x'.repeat(Math.max(0, encodePaymentRequired(sent).length + shift)),
    );
    assert.ok('dropped' in fitted);
    assert.deepEqual(fitted.dropped, order.slice(0, fitted.dropped.length));
    seen.add(String(fitted.dropped.length));
  }
  assert.equal(seen.size, order.length + 1);
});

test('H09: ways to pay, the URL, the error and the other declarations are in every 402 that is sent', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 24 }), fc.integer({ min: 0, max: 5000 }), (networks, path) => {
      const asked: PaymentRequired = {
        ...message(networks),
        resource: { ...whole, url: `${url}/${'p'.repeat(path)}` },
      };
      const fitted = fitRequired(asked, encodePaymentRequired);
      if ('tooLarge' in fitted) {
        assert.ok(fitted.tooLarge > maxRequiredLength);
        return;
      }
      assert.equal(fitted.size, fitted.header.length);
      assert.ok(fitted.size <= maxRequiredLength);
      const sent: unknown = decodePaymentRequiredHeader(fitted.header);
      const untouched: unknown = decodePaymentRequiredHeader(encodePaymentRequired(asked));
      assert.deepEqual(core(sent as PaymentRequired), core(untouched as PaymentRequired));
    }),
    { numRuns: 150 },
  );
});

test('a 402 whose only extension went has none at all', () => {
  const asked = { ...message(1, {}), extensions: { bazaar } };
  const fitted = fitRequired(asked, (sent) => {
    return 'extensions' in sent ? 'x'.repeat(warnRequiredLength + 1) : encodePaymentRequired(sent);
  });
  assert.ok('header' in fitted);
  assert.equal('extensions' in decodePaymentRequiredHeader(fitted.header), false);
});

test('H09: a bazaar declaration that was shortened is still one that facilitators accept, or is gone', () => {
  let shortened = 0;
  for (let length = 0; length < 2400; length += 60) {
    const asked: PaymentRequired = {
      ...message(1),
      resource: { ...whole, url: `${url}/${'p'.repeat(length)}` },
    };
    const fitted = fitRequired(asked, encodePaymentRequired);
    assert.ok('header' in fitted);
    const declared = decodePaymentRequiredHeader(fitted.header).extensions?.bazaar;
    if (declared === undefined) {
      assert.ok(fitted.dropped.includes('extensions.bazaar'));
      continue;
    }
    shortened += Number(fitted.dropped.includes('extensions.bazaar.schema'));
    const extension = declared as Parameters<typeof validateDiscoveryExtension>[0];
    assert.deepEqual(validateDiscoveryExtension(extension), { valid: true });
    assert.deepEqual(validateDiscoveryExtensionSpec(declared as Record<string, unknown>), { valid: true });
  }
  assert.ok(shortened > 0);
});

test('H11: a description is cut between characters, ends with an ellipsis, and goes last', () => {
  const description = '天気予報 — 毎時の天気 ☔ '.repeat(12);
  const resource = { description };
  const bare = encodePaymentRequired({ ...message(1, resource), extensions: {} }).length;
  for (const allowance of [warnRequiredLength - bare + 200, warnRequiredLength - bare + 400]) {
    const padded: PaymentRequired = {
      x402Version: 2,
      error: 'e'.repeat(Math.floor((allowance * 3) / 4)),
      resource: { url, description },
      accepts: [requirement(1)],
    };
    const fitted = fitRequired(padded, encodePaymentRequired);
    assert.ok('dropped' in fitted);
    assert.deepEqual(fitted.dropped, ['resource.description']);
    assert.ok(fitted.size <= warnRequiredLength);
    const shown = decodePaymentRequiredHeader(fitted.header).resource.description ?? '';
    assert.ok(shown.endsWith('…') && description.startsWith(shown.slice(0, -1)), shown);
  }
});

test('H09: a URL as long as a server lets through is judged with two encodings', () => {
  let encodes = 0;
  const asked = { ...message(12), resource: { ...whole, url: `${url}?q=${'a'.repeat(8000)}` } };
  const fitted = fitRequired(asked, (sent) => {
    encodes += 1;
    return encodePaymentRequired(sent);
  });
  assert.ok('tooLarge' in fitted && fitted.tooLarge > maxRequiredLength);
  assert.equal(encodes, 2);
});

test('the same 402 is shortened the same way every time, and the message is not changed', () => {
  const asked = message(4);
  const before = encodePaymentRequired(asked);
  const first = fitRequired(asked, encodePaymentRequired);
  assert.deepEqual(fitRequired(asked, encodePaymentRequired), first);
  assert.ok('dropped' in first && first.dropped.length > 0);
  assert.equal(encodePaymentRequired(asked), before);
});

test('H09: the size of a head is that of the octets on the wire, with room for the longest status line', async () => {
  const headers: HeaderList = [
    ['content-type', 'text/plain'],
    ['x-two', 'a'],
    ['x-two', 'bb'],
    ['x-latin', 'é'],
    ['content-length', '0'],
    ['connection', 'close'],
  ];
  const server = createServer((_, response) => {
    response.sendDate = false;
    response.writeHead(511, headers.flat());
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  server.close();
  await once(server, 'close');
  assert.equal(fieldSize(headers), Buffer.concat(chunks).length);
});

/** Fields of ours and of a handler, as large as asked. */
function answer(sizes: { readonly [name: string]: number }): HeaderList {
  return Object.entries(sizes).map(([name, size]) => [name, 'v'.repeat(size)]);
}

test('H09: a paid answer of exactly its budget stays whole, and one octet more costs its largest field', () => {
  const small = answer({ 'content-type': 10, 'x-small': 20, 'payment-response': 400 });
  const rest = maxPaidFieldsLength - fieldSize(small) - 'x-large: \r\n'.length;
  for (const [size, dropped] of [
    [rest - 1, []],
    [rest, []],
    [rest + 1, ['x-large']],
  ] as const) {
    const headers: HeaderList = [...small, ...answer({ 'x-large': size })];
    const shortened = shortenFields(headers, maxPaidFieldsLength);
    assert.deepEqual(shortened.dropped, dropped);
    assert.deepEqual(shortened.headers, dropped.length === 0 ? headers : small);
    assert.equal(shortened.size, fieldSize(shortened.headers));
  }
});

test('H09: fields go from the largest on, all lines of one name together, and cookies last', () => {
  const headers: HeaderList = [
    ['set-cookie', `a=${'a'.repeat(900)}`],
    ['x-trace', 't'.repeat(300)],
    ['link', 'l'.repeat(200)],
    ['link', 'm'.repeat(200)],
    ['set-cookie', 'b=1'],
    ['x-tiny', 't'],
  ];
  const droppedAt = (budget: number): readonly string[] => shortenFields(headers, budget).dropped;
  const size = fieldSize(headers);
  assert.deepEqual(droppedAt(size), []);
  assert.deepEqual(droppedAt(size - 1), ['link']);
  assert.deepEqual(droppedAt(size - 416), ['link']);
  assert.deepEqual(droppedAt(size - 417), ['link', 'x-trace']);
  assert.deepEqual(droppedAt(size - 740), ['link', 'x-trace', 'x-tiny', 'set-cookie']);
  assert.deepEqual(shortenFields(headers, 0), {
    headers: [],
    dropped: ['link', 'x-trace', 'x-tiny', 'set-cookie'],
    size: fieldSize([]),
  });
});

test('H09: what the body, a browser or the payment cannot do without is never taken out', () => {
  const headers = answer({
    'content-type': 900,
    'content-encoding': 900,
    'content-language': 900,
    'content-disposition': 900,
    'content-security-policy': 900,
    location: 900,
    'strict-transport-security': 900,
    'access-control-allow-origin': 900,
    'access-control-expose-headers': 900,
    'cache-control': 900,
    vary: 900,
    'payment-response': 900,
    'payment-required': 900,
    'counterfoil-payment': 900,
    'retry-after': 900,
  });
  const shortened = shortenFields([...headers, ['x-own', '1']], maxPaidFieldsLength);
  assert.deepEqual(shortened.headers, headers);
  assert.deepEqual(shortened.dropped, ['x-own']);
  assert.ok(shortened.size > maxPaidFieldsLength);
});

test('an answer that was shortened keeps the order of what is left, whatever it was', () => {
  const name = fc.constantFrom(
    'content-type',
    'set-cookie',
    'x-a',
    'x-b',
    'link',
    'payment-response',
    'etag',
  );
  const line = fc.tuple(
    name,
    fc.nat(900).map((size) => 'v'.repeat(size)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.nat(4000), (headers, budget) => {
      const shortened = shortenFields(headers, budget);
      assert.equal(shortened.size, fieldSize(shortened.headers));
      assert.deepEqual(
        shortened.headers,
        headers.filter(([field]) => !shortened.dropped.includes(field)),
      );
      const stays = shortened.headers.every(
        ([field]) => field === 'content-type' || field === 'payment-response',
      );
      assert.ok(shortened.size <= budget || stays);
    }),
  );
});
