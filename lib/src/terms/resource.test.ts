import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isValidIconUrl, sanitizeResourceServiceMetadata } from '@x402/extensions/bazaar';
import fc from 'fast-check';
import { decodePaymentRequired, encodePaymentRequired } from '../wire/index.ts';
import { encodeUtf8 } from '../wire/utf8.ts';
import type { PaymentRequired, ResourceInfo } from '../wire/v2.ts';
import { cutText, describeResource, maxDescriptionLength, type ResourceOptions } from './resource.ts';

const url = 'https://api.example.com/weather';

function octets(text: string): number {
  return encodeUtf8(text).length;
}

function message(resource: Omit<ResourceInfo, 'url'>): PaymentRequired {
  return { x402Version: 2, resource: { url, ...resource }, accepts: [] };
}

/** The names of what was left out, in order. */
function droppedFrom(options: ResourceOptions): readonly string[] {
  return describeResource(options).dropped.map(({ field }) => field);
}

function iconOf(iconUrl: string): string | undefined {
  return describeResource({ iconUrl }).resource.iconUrl;
}

test('what keeps the rules leaves as it is', () => {
  const options = {
    description: 'Weather for a city, hourly',
    mimeType: 'application/json; charset=utf-8',
    serviceName: 'Example Weather',
    tags: ['weather', 'forecast'],
    iconUrl: 'https://cdn.example.com/icon.png?v=2',
  };
  assert.deepEqual(describeResource(options), { resource: options, dropped: [] });
  assert.deepEqual(describeResource({}), { resource: {}, dropped: [] });
});

test('H13: nothing but the five members can leave with a description', () => {
  for (const name of ['url', 'internalHost', 'price', 'constructor', 'toString', '__proto__']) {
    const options: ResourceOptions = JSON.parse(`{ "description": "x", "${name}": "secret" }`);
    assert.throws(() => describeResource(options), { name: 'TypeError', message: new RegExp(name) });
  }
});

test('H13: an icon on a local or numbered host is left out, because it tells of the inside and works for nobody', () => {
  for (const host of [
    'localhost',
    'localhost.',
    'LOCALHOST',
    '%6c%6f%63%61lhost',
    'app.localhost',
    'localhost.localdomain',
    'ip6-loopback',
    'printer.local',
    'metadata.google.internal',
    'intranet',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '%31%32%37.0.0.1',
    '１２７.0.0.1',
    '8.8.8.8',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ]) {
    const iconUrl = `https://${host}/icon.png`;
    const { resource, dropped } = describeResource({ iconUrl, serviceName: 'kept' });
    assert.deepEqual(resource, { serviceName: 'kept' }, host);
    assert.deepEqual(
      dropped.map(({ field }) => field),
      ['iconUrl'],
      host,
    );
  }
});

test('an icon that is no absolute http or https URL of at most 2,048 characters is left out', () => {
  const longest = `https://example.com/${'a'.repeat(2048 - 'https://example.com/'.length)}`;
  assert.equal(iconOf(longest.slice(1)), undefined);
  assert.equal(iconOf(longest), longest);
  assert.equal(iconOf(longest.slice(0, -1)), longest.slice(0, -1));
  assert.equal(iconOf(`${longest}a`), undefined);
  // Shorter than that as it is written, longer as it is sent.
  assert.equal(iconOf(`https://example.com/${'é'.repeat(600)}`), undefined);
  for (const text of [
    '',
    'icon.png',
    '/icon.png',
    '//example.com/icon.png',
    'ftp://example.com/icon.png',
    'data:image/png;base64,AAAA',
    'javascript:alert(1)',
    'https:example.com/icon.png',
    'https:/example.com/icon.png',
    ' https://example.com/icon.png',
    'https://exam\nple.com/icon.png',
    'https://example.com/icon\u0000.png',
    'https://user@example.com/icon.png',
    'https://user:word@example.com/icon.png',
    'https://exa%00mple.com/',
    'https://%256c%256fcalhost.com/',
    'https://',
  ]) {
    assert.equal(iconOf(text), undefined, JSON.stringify(text));
  }
});

test('an icon leaves as it was parsed, so that nobody reads another host in it', () => {
  assert.equal(
    iconOf('HTTPS://CDN.Example.COM:443/a/../b c.png'.replace(' ', '%20')),
    'https://cdn.example.com/b%20c.png',
  );
  assert.equal(iconOf('https://bücher.example/icon.png'), 'https://xn--bcher-kva.example/icon.png');
  assert.equal(iconOf('https://good.example\\@evil.example/x'), 'https://good.example/@evil.example/x');
});

test('what we let through, a facilitator of the reference package keeps unchanged', () => {
  const host = fc.oneof(
    fc.domain(),
    fc.constantFrom(
      'localhost',
      '127.0.0.1',
      '0x7f.1',
      'a.localhost',
      '[::1]',
      'xn--a',
      'a_b.example',
      '%6cocalhost',
    ),
  );
  const icon = fc.oneof(
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc
      .tuple(fc.constantFrom('http', 'https', 'ftp'), host, fc.webPath())
      .map(([scheme, at, path]) => `${scheme}://${at}${path}`),
    fc.string({ unit: 'grapheme' }),
  );
  const label = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 8 }));
  const options = fc.record(
    { serviceName: label, tags: fc.array(label, { maxLength: 9 }), iconUrl: icon },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(options, (given) => {
      const { resource } = describeResource(given);
      assert.deepEqual(
        sanitizeResourceServiceMetadata(JSON.parse(JSON.stringify({ url, ...resource }))),
        resource,
      );
      const theirs = sanitizeResourceServiceMetadata(JSON.parse(JSON.stringify({ url, ...given })));
      assert.equal(resource.serviceName, theirs.serviceName);
      assert.deepEqual(resource.tags, theirs.tags);
      if (resource.iconUrl !== undefined) assert.ok(isValidIconUrl(given.iconUrl));
    }),
    { numRuns: 2000 },
  );
});

test('a service name and a tag have 1 to 32 printable ASCII characters', () => {
  const cases: readonly (readonly [text: string, kept: boolean])[] = [
    ['', false],
    ['a', true],
    ['a'.repeat(31), true],
    ['a'.repeat(32), true],
    ['a'.repeat(33), false],
    ['Wetter für alle', false],
    ['tab\there', false],
    ['delete\u007f', false],
    ['~ !', true],
  ];
  for (const [text, kept] of cases) {
    assert.deepEqual(
      describeResource({ serviceName: text, tags: [text] }).resource,
      kept ? { serviceName: text, tags: [text] } : {},
      JSON.stringify(text),
    );
    assert.deepEqual(
      droppedFrom({ serviceName: text, tags: [text] }),
      kept ? [] : ['serviceName', 'tags[0]'],
    );
  }
});

test('five tags leave: the first that keep the rule, each once whatever its letter case', () => {
  const tags = ['a', 'é', 'A', 'b', 'c', 'd', 'e', 'f'];
  const { resource, dropped } = describeResource({ tags });
  assert.deepEqual(resource, { tags: ['a', 'b', 'c', 'd', 'e'] });
  assert.deepEqual(dropped, [
    { field: 'tags[1]', why: 'expected 1 to 32 printable ASCII characters' },
    { field: 'tags[2]', why: 'stands twice' },
    { field: 'tags[7]', why: 'expected at most 5 tags' },
  ]);
  assert.deepEqual(describeResource({ tags: [] }), { resource: {}, dropped: [] });
});

test('a media type is one, of at most 128 characters', () => {
  const longest = `text/${'a'.repeat(123)}`;
  for (const mimeType of [
    'application/json',
    'text/html;charset=utf-8',
    'a/b; c="d e"',
    'image/svg+xml',
    longest,
  ]) {
    assert.deepEqual(describeResource({ mimeType }), { resource: { mimeType }, dropped: [] });
  }
  for (const mimeType of [
    '',
    'json',
    'text/',
    '/html',
    'text/html;',
    'text/html\r\nx: y',
    'text/ötzi',
    '*/*',
    `${longest}a`,
  ]) {
    assert.deepEqual(describeResource({ mimeType }).resource, {}, mimeType);
    assert.deepEqual(droppedFrom({ mimeType }), ['mimeType']);
  }
});

test('H11: a description in any language goes through the header and back, and the header is ASCII', () => {
  const description = 'Résumés — 履歴書 🧾 in any language';
  const { resource, dropped } = describeResource({ description });
  assert.deepEqual(dropped, []);
  const header = encodePaymentRequired(message(resource));
  assert.match(header, /^[A-Za-z0-9+/]+={0,2}$/);
  const decoded = decodePaymentRequired(header);
  assert.ok(decoded.ok);
  assert.equal(decoded.value.resource.description, description);
});

test('H11: whatever a seller says of a resource, the header is ASCII and our own strict reader reads it', () => {
  const any = fc.string({ unit: 'binary', maxLength: 60 });
  const broken = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units));
  const text = fc.oneof(any, broken, fc.string({ unit: 'grapheme', maxLength: 700 }));
  const options = fc.record(
    {
      description: text,
      mimeType: text,
      serviceName: text,
      tags: fc.array(text),
      iconUrl: fc.oneof(text, fc.webUrl()),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(options, (given) => {
      const { resource } = describeResource(given);
      const header = encodePaymentRequired(message(resource));
      assert.match(header, /^[A-Za-z0-9+/]+={0,2}$/);
      const decoded = decodePaymentRequired(header);
      assert.ok(decoded.ok);
      assert.deepEqual(decoded.value.resource, { url, ...resource });
    }),
    { numRuns: 1000 },
  );
});

test('H11: a description is one line: controls and what reorders text become spaces, and that is said', () => {
  const { resource, dropped } = describeResource({
    description: ' a\r\nSet-Cookie: b\u0000\u202e\u2066c\u2028d \u200d',
  });
  assert.equal(resource.description, 'a Set-Cookie: b c d \u200d');
  assert.deepEqual(dropped, [
    { field: 'description', why: 'control characters and broken characters were replaced' },
  ]);
  const half = describeResource({ description: 'half \ud83e' });
  assert.equal(half.resource.description, 'half \ufffd');
  assert.deepEqual(half.dropped, dropped);
  assert.deepEqual(describeResource({ description: ' \n ' }), {
    resource: {},
    dropped: [{ field: 'description', why: 'expected some text' }],
  });
});

test('a description of 512 octets stays, and one of 513 is cut between two characters', () => {
  const at = (length: number): string | undefined =>
    describeResource({ description: 'a'.repeat(length) }).resource.description;
  assert.equal(at(maxDescriptionLength - 1)?.length, maxDescriptionLength - 1);
  assert.equal(at(maxDescriptionLength), 'a'.repeat(maxDescriptionLength));
  assert.equal(at(maxDescriptionLength + 1), `${'a'.repeat(maxDescriptionLength - 3)}…`);
  assert.deepEqual(droppedFrom({ description: 'a'.repeat(513) }), ['description']);
});

test('a cut never parts a character as people see it', () => {
  const family = '👨‍👩‍👧‍👦';
  const size = octets(family);
  assert.equal(cutText(family, size), family);
  assert.equal(cutText(family, size - 1), '…');
  assert.equal(cutText(`${family}${family}`, size + 3), `${family}…`);
  assert.equal(cutText(`${family}${family}`, size + 2), '…');
  assert.equal(cutText('e\u0301e\u0301e\u0301', 8), 'e\u0301…');
  assert.equal(cutText('two words', 7), 'two…');
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 80 }),
      fc.integer({ min: 3, max: 90 }),
      (text, most) => {
        const cut = cutText(text, most);
        assert.ok(octets(cut) <= most);
        assert.ok(cut === text || text.startsWith(cut.slice(0, -1)));
      },
    ),
  );
});

test('a wrong type is a mistake in the program', () => {
  for (const options of [
    { description: 1 },
    { mimeType: null },
    { serviceName: ['a'] },
    { iconUrl: new URL(url) },
    { tags: 'weather' },
    { tags: [1] },
    { tags: null },
  ]) {
    assert.throws(() => describeResource(options as unknown as ResourceOptions), TypeError);
  }
});

test('the result is frozen, so that no 402 can change the next one', () => {
  const described = describeResource({ tags: ['a'] });
  assert.ok(Object.isFrozen(described.resource) && Object.isFrozen(described.resource.tags));
});
