/**
 * Requests that two servers in a row may read differently: where one ends, or which of its lines are headers. Each
 * carries, where it can, a second request inside the first, or a payment where no payment may stand.
 */

const host = 'Host: api.example.com';
/** Asks for something else, so that its answer is known where it is not expected. */
const inner = `GET /smuggled HTTP/1.1\r\n${host}\r\n\r\n`;
/** Ends a connection on which everything else was answered. */
const last = `GET /last HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`;

/** The octets of each attempt by its name; none of them may buy anything. */
export function attempts(method: string, payment: string): ReadonlyMap<string, string> {
  const head = `${method} /weather HTTP/1.1\r\n${host}\r\n`;
  const all = [...framings(head), ...foldings(head, payment), ...targets(method)];
  return new Map(all.map(([name, text]) => [name, text + last]));
}

/** Content-Length against Transfer-Encoding, and sizes that are none (RFC 9112, section 6). */
function framings(head: string): readonly (readonly [string, string])[] {
  const length = `Content-Length: ${inner.length + 5}`;
  const body = `0\r\n\r\n${inner}`;
  const chunked = 'Transfer-Encoding: chunked';
  const heads: Readonly<Record<string, string>> = {
    'a length and chunks': `${length}\r\n${chunked}`,
    'chunks and a length': `${chunked}\r\nContent-Length: 5`,
    'a blank before the colon': `${length}\r\nTransfer-Encoding : chunked`,
    'an unknown coding': `${length}\r\nTransfer-Encoding: xchunked`,
    'a vertical tab': `${length}\r\nTransfer-Encoding: \x0bchunked`,
    'a folded coding': `${length}\r\nTransfer-Encoding:\r\n chunked`,
    'an underscore': `${length}\r\nTransfer_Encoding: chunked`,
    'a line feed alone': `${length}\r\nX: y\nTransfer-Encoding: chunked`,
    'a carriage return alone': `${length}\r\nX: y\rTransfer-Encoding: chunked`,
    'two codings': `${chunked}\r\nTransfer-Encoding: identity`,
    'two lengths': `Content-Length: 5\r\n${length}`,
    'a signed length': 'Content-Length: +5',
    'a list of lengths': 'Content-Length: 5, 5',
    'a blank after the name': 'Content-Length : 5',
    'a length that covers it': length,
    'chunks before it': chunked,
    'an upgrade': `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA`,
  };
  const sizes: Readonly<Record<string, string>> = {
    'a hexadecimal prefix': '0x5',
    'a negative size': '-1',
    'a chunk extension': '5;a=b',
  };
  return [
    ...Object.entries(heads).map(([name, lines]) => [name, `${head}${lines}\r\n\r\n${body}`] as const),
    ...Object.entries(sizes).map(
      ([name, size]) => [name, `${head}${chunked}\r\n\r\n${size}\r\nhello\r\n${body}`] as const,
    ),
  ];
}

/** A payment where it is none, or not the only one. */
function foldings(head: string, payment: string): readonly (readonly [string, string])[] {
  const own = `PAYMENT-SIGNATURE: ${payment}`;
  const lines: Readonly<Record<string, string>> = {
    'a payment in a folded line': `X: y\r\n ${own}`,
    'a payment that is folded': `PAYMENT-SIGNATURE: ${payment.slice(0, 20)}\r\n ${payment.slice(20)}`,
    'a payment that begins folded': `PAYMENT-SIGNATURE:\r\n\t${payment}`,
    'a payment with underscores': `payment_signature: ${payment}`,
    'a payment with underscores and another': `PAYMENT_SIGNATURE: ${payment}\r\n${own}x`,
    'a payment twice': `${own}\r\n${own}`,
    'a payment after an empty one': `PAYMENT-SIGNATURE:\r\n${own}`,
    'a payment and its neighbour': `${own}, ${payment}`,
    'a payment with NUL': `${own}\0`,
    'a payment with a blank before its colon': `PAYMENT-SIGNATURE : ${payment}`,
  };
  const trailer = `Transfer-Encoding: chunked\r\nTrailer: PAYMENT-SIGNATURE\r\n\r\n5\r\nhello\r\n0\r\n${own}`;
  return [
    ...Object.entries(lines).map(([name, text]) => [name, `${head}${text}\r\n\r\n`] as const),
    ['a payment in a trailer', `${head}${trailer}\r\n\r\n`],
  ];
}

/** First lines that are read in more than one way. */
function targets(method: string): readonly (readonly [string, string])[] {
  return [
    ['no version', `${method} /weather\r\n\r\n`],
    [
      'an old version with chunks',
      `${method} /weather HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    ['another host in the target', `${method} http://evil.example/weather HTTP/1.1\r\n${host}\r\n\r\n`],
    ['two hosts', `${method} /weather HTTP/1.1\r\n${host}\r\nHost: evil.example\r\n\r\n`],
    ['line feeds alone', `${method} /weather HTTP/1.1\n${host}\n\n`],
    ['a third word', `${method} /weather x HTTP/1.1\r\n${host}\r\n\r\n`],
    ['a field in the target', `${method} /weather%0d%0aPAYMENT-SIGNATURE:%20x HTTP/1.1\r\n${host}\r\n\r\n`],
  ];
}
