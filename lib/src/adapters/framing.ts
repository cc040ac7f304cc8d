/** Fields that belong to one connection and its framing, never to an answer (RFC 9110, section 7.6.1). */
export const framing: readonly string[] = [
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Statuses whose messages have no content (RFC 9110, section 15). */
export const bodiless: readonly number[] = [204, 205, 304];
