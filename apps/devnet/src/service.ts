/**
 * The facilitator over HTTP: GET /supported, POST /verify, POST /settle, on the loopback address.
 * A refusal has the shape of the endpoint's own answer, whatever the status, so every client can read it;
 * texts of libraries are cut to their first paragraph, and no stack ever leaves.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { x402Facilitator } from '@x402/core/facilitator';
import { explain } from './failure.ts';
import {
  closeServer,
  createJsonServer,
  listenLocal,
  MAX_BODY_BYTES,
  parseJson,
  readBody,
  sendJson,
} from './http.ts';
import { isRecord, NETWORK, type ParsedRequest, parseRequest } from './request.ts';

/** The two endpoints that judge a payment. */
export type Endpoint = 'verify' | 'settle';

/** A facilitator that answers at `url` until it is closed. */
export type Service = {
  readonly url: string;
  close(): Promise<void>;
};

/** A longer text than this in an answer is of no use to a seller. */
const MAX_TEXT_CHARS = 300;

/** Serves this facilitator on 127.0.0.1; port 0 takes a free one. */
export async function serveFacilitator(facilitator: x402Facilitator, port: number): Promise<Service> {
  const server = createJsonServer((request, response) => route(facilitator, request, response));
  const bound = await listenLocal(server, port);
  return { url: `http://127.0.0.1:${bound}`, close: () => closeServer(server) };
}

async function route(
  facilitator: x402Facilitator,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').split('?', 1)[0];
  switch (path) {
    case '/supported':
      if (request.method !== 'GET') return notAllowed(response, 'GET');
      return sendJson(response, 200, facilitator.getSupported());
    case '/verify':
    case '/settle':
      if (request.method !== 'POST') return notAllowed(response, 'POST');
      return judge(facilitator, path === '/verify' ? 'verify' : 'settle', { request, response });
    default:
      return sendJson(response, 404, {
        error: 'not_found',
        message: 'There are /supported, /verify and /settle.',
      });
  }
}

async function judge(
  facilitator: x402Facilitator,
  endpoint: Endpoint,
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const { request, response } = exchange;
  const body = await readBody(request);
  if (body === undefined) {
    // The rest of the body is not read, so the connection cannot be used again.
    response.setHeader('connection', 'close');
    return sendJson(
      response,
      413,
      refusal(endpoint, 'invalid_payload', `A body has at most ${MAX_BODY_BYTES} bytes.`),
    );
  }
  const parsed: ParsedRequest = parseRequest(parseJson(body));
  if (!parsed.ok) return sendJson(response, 400, refusal(endpoint, parsed.reason, parsed.message));
  const { paymentPayload, paymentRequirements } = parsed.request;
  try {
    sendJson(response, 200, tidyTexts(await facilitator[endpoint](paymentPayload, paymentRequirements)));
  } catch (error) {
    sendJson(response, 500, refusal(endpoint, `unexpected_${endpoint}_error`, explain(error)));
  }
}

/** A refusal in the shape of the endpoint's own answer. */
export function refusal(endpoint: Endpoint, reason: string, message: string): Record<string, unknown> {
  const text = message.slice(0, MAX_TEXT_CHARS);
  if (endpoint === 'verify') return { isValid: false, invalidReason: reason, invalidMessage: text };
  return { success: false, errorReason: reason, errorMessage: text, transaction: '', network: NETWORK };
}

function tidyTexts(answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  const tidy = { ...answer };
  for (const name of ['invalidMessage', 'errorMessage']) {
    const text = tidy[name];
    if (typeof text === 'string') tidy[name] = firstParagraph(text);
  }
  return tidy;
}

/** viem puts the sentence and the contract's reason before a blank line, and the call's arguments after it. */
function firstParagraph(text: string): string {
  return (text.split('\n\n', 1)[0] ?? '').replaceAll('\n', ' ').slice(0, MAX_TEXT_CHARS);
}

function notAllowed(response: ServerResponse, allowed: string): void {
  response.setHeader('allow', allowed);
  sendJson(response, 405, { error: 'method_not_allowed', message: `Use ${allowed}.` });
}
