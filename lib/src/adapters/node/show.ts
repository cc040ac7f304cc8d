/** What the work is shown of a node:http request: what was priced, and nothing else. */
import type { IncomingMessage } from 'node:http';
import type { HeaderList, WorkContext } from '../../seller/index.ts';

/** The request as it was priced: its fields and no others, and the method that was paid for. */
export function showPriced(request: IncomingMessage, priced: WorkContext<unknown>['request']): void {
  showHeaders(request, priced.headers);
  pinMethod(request, priced.method);
}

/** Leaves the handler the headers that the work is told of, and no other: what was not priced is not seen. */
export function showHeaders(request: IncomingMessage, headers: HeaderList): void {
  const shown = new Set(headers.map(([name]) => name));
  for (const name of Object.keys(request.headers)) {
    if (shown.has(name)) continue;
    delete request.headers[name];
    delete request.headersDistinct[name];
  }
  request.rawHeaders = request.rawHeaders.filter((_text, at, all) =>
    shown.has(String(all[at - (at % 2)]).toLowerCase()),
  );
}

/**
 * From here on the request has the method that was judged (H03). Whoever sets another one, as a method override
 * behind the gate does, would run what was not paid for, and is told so.
 */
function pinMethod(request: IncomingMessage, method: string): void {
  const check = (next: unknown): void => {
    if (next !== method) throw new TypeError(methodMessage);
  };
  check(request.method);
  Object.defineProperty(request, 'method', {
    get: () => method,
    set: check,
    enumerable: true,
    configurable: true,
  });
}

/**
 * What passed a gate unpaid may be given another method only if that would have passed too: a method override behind
 * the gate would otherwise make of a free POST the GET that is sold (H03). `isFree` judges the request as it then is.
 */
export function pinFree(request: IncomingMessage, isFree: () => boolean): void {
  let { method } = request;
  // A gate before this one may have its own leave to give.
  const earlier = Object.getOwnPropertyDescriptor(request, 'method')?.set;
  const set = (next: string | undefined): void => {
    const before = method;
    method = next;
    try {
      if (!isFree()) throw new TypeError(freeMethodMessage);
      earlier?.(next);
    } catch (fault) {
      method = before;
      throw fault;
    }
  };
  Object.defineProperty(request, 'method', { get: () => method, set, enumerable: true, configurable: true });
}

/** Says what a programmer did wrong where a free request gets the method of one that is not. */
export const freeMethodMessage =
  'This request passed the payment gate unpaid and cannot be given this method any more. Mount a method override before the payment gate.';

/** Says what a programmer did wrong where the method changes behind the gate. */
export const methodMessage =
  'The method of this request was paid for and cannot be changed any more. Mount a method override before the payment gate.';
