/**
 * payment-identifier (formats 9.1 and 12.2): the buyer's own name for a payment. It is an alias and never
 * authenticates; what it stands for is judged elsewhere. Here it is declared, and read out of a payment.
 */
import type { Outcome } from '../problem.ts';
import { refuse, succeed } from '../problem.ts';
import { isJsonObject } from '../wire/json.ts';
import type { Json, JsonObject } from '../wire/v2.ts';

/** The extension's key in `extensions`. */
export const paymentIdentifierKey = 'payment-identifier';

/** 16 to 128 characters. */
const identifier = /^[A-Za-z0-9_-]{16,128}$/;

/**
 * The core specification wants a schema; the reference clients look at `info` alone. This one says of the member that
 * a buyer adds what the reference package's says, in less than half of its octets: they are sent back with every
 * payment.
 */
const schema: JsonObject = Object.freeze({
  type: 'object',
  properties: Object.freeze({ id: Object.freeze({ type: 'string', pattern: identifier.source }) }),
});

/** The value of `extensions["payment-identifier"]` in a 402: buyers may, or must, name their payment. */
export function declarePaymentIdentifier(required: boolean): JsonObject {
  if (typeof required !== 'boolean') throw new TypeError('required must be true or false.');
  return Object.freeze({ info: Object.freeze({ required }), schema });
}

/**
 * The identifier that a payment carries, or undefined where it has none; `payment_malformed` where there is one
 * that breaks the rules. The buyer's copy of `required` is not looked at.
 */
export function readPaymentIdentifier(extensions: JsonObject | undefined): Outcome<string | undefined> {
  const extension = extensions?.[paymentIdentifierKey] ?? undefined;
  if (extension === undefined) return succeed(undefined);
  if (!isJsonObject(extension)) return malformed();
  const info: Json | undefined = extension.info ?? undefined;
  if (info === undefined) return succeed(undefined);
  if (!isJsonObject(info)) return malformed();
  const id = info.id ?? undefined;
  if (id === undefined) return succeed(undefined);
  return typeof id === 'string' && identifier.test(id) ? succeed(id) : malformed();
}

function malformed(): Outcome<never> {
  return refuse('payment_malformed', { fields: [`extensions.${paymentIdentifierKey}`] });
}
