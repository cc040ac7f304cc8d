/**
 * Express and Hono with the handlers of the street, each put together in several ways, and with or without a gate
 * before them. Whatever is asked of them is answered with the handler that ran.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { Hono, type MiddlewareHandler } from 'hono';
import { type Handler, handlers } from './street.ts';

/** Told which handler ran. */
export type Run = (handler: Handler) => void;

export type ExpressGates = {
  /** Before everything. */
  readonly app?: (
    request: IncomingMessage,
    response: ServerResponse,
    next: (fault?: unknown) => void,
  ) => void;
  /** Before the handler of one priced route. */
  readonly route?: (
    name: string,
  ) => (request: IncomingMessage, response: ServerResponse, next: (fault?: unknown) => void) => void;
};

export type ExpressShape = {
  /** Letter case counts, and a slash at the end does. */
  readonly strict?: boolean;
  /** From routers that are mounted at the first and the second segment. */
  readonly mounted?: boolean;
};

/** An application of Express. */
export function expressOf(run: Run, shape: ExpressShape = {}, gates: ExpressGates = {}): express.Express {
  const app = express();
  // A stranger's nonsense is not worth a line in the log of a test.
  app.set('env', 'test');
  if (shape.strict === true) app.enable('case sensitive routing').enable('strict routing');
  if (gates.app !== undefined) app.use(gates.app);
  for (const handler of handlers) {
    const parts = handler.path.match(/\/[^/]*/g) ?? [];
    const isMounted = shape.mounted === true && parts.length > 1 && !handler.path.includes('*');
    const [first = '', second = '', ...rest] = parts;
    const path = rest.length > 0 ? rest.join('') : second;
    const router = isMounted ? express.Router() : app;
    if (isMounted && rest.length > 0) app.use(first, express.Router().use(second, router));
    else if (isMounted) app.use(first, router);
    handle(router, { ...handler, path: isMounted ? path : handler.path }, { run: () => run(handler), gates });
  }
  return app;
}

function handle(
  router: express.IRouter,
  { kind, name, method, path }: Handler,
  { run, gates }: { readonly run: () => void; readonly gates: ExpressGates },
): void {
  const gate = kind === 'priced' ? gates.route?.(name) : undefined;
  const route = router.route(path);
  const end = (_request: unknown, response: express.Response): void => {
    run();
    response.end();
  };
  const chain = gate === undefined ? [end] : [gate as express.RequestHandler, end];
  if (method === 'ALL') route.all(...chain);
  else if (method === 'GET') route.get(...chain);
  else if (method === 'POST') route.post(...chain);
  else if (method === 'PUT') route.put(...chain);
  else route.delete(...chain);
}

export type HonoGates = {
  readonly app?: MiddlewareHandler;
  readonly route?: (name: string) => MiddlewareHandler;
};

export type HonoShape = {
  /** A slash at the end does not count. */
  readonly loose?: boolean;
  /** From applications that are routed at the first segment. */
  readonly nested?: boolean;
};

/** An application of Hono. */
export function honoOf(run: Run, shape: HonoShape = {}, gates: HonoGates = {}): Hono {
  const strict = shape.loose !== true;
  const app = new Hono({ strict });
  if (gates.app !== undefined) app.use(gates.app);
  for (const handler of handlers) {
    const path = handler.path.replace(/\*\w+$/, '*');
    const gate = handler.kind === 'priced' ? gates.route?.(handler.name) : undefined;
    const end: MiddlewareHandler = async (context) => {
      run(handler);
      return context.body(null);
    };
    const chain = gate === undefined ? [end] : [gate, end];
    const [, prefix, rest] = /^(\/[^/]+)(\/.+)$/.exec(path) ?? [];
    if (shape.nested === true && prefix !== undefined && rest !== undefined) {
      app.route(prefix, new Hono({ strict }).on([handler.method], [rest], ...chain));
    } else {
      app.on([handler.method], [path], ...chain);
    }
  }
  return app;
}

/** Serves a Hono application on Node; `seen` is told the URL that the application was given. */
export function served(app: Pick<Hono, 'fetch'>, seen: (url: string) => void = () => {}): RequestListener {
  return getRequestListener(
    (request, env) => {
      seen(request.url);
      return app.fetch(request, env);
    },
    { overrideGlobalObjects: false },
  );
}
