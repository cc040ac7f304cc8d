/** Applications with nothing before their handlers: which handler runs is what a gate must have foreseen. */
import { ServerResponse } from 'node:http';
import { type ExpressShape, expressOf, type HonoShape, honoOf, served } from './frameworks.ts';
import { host, incomingOf } from './inside.ts';
import type { Handler } from './street.ts';
import type { Bent } from './targets.ts';

export type Reading = {
  readonly ran: Handler | undefined;
  /** The targets that a gate within this application could go by. */
  readonly seen: readonly string[];
};

export type Reader = { readonly name: string; readonly ask: (bent: Bent) => Promise<Reading> };

function expressReader(name: string, shape: ExpressShape): Reader {
  let ran: Handler | undefined;
  const app = expressOf((handler) => {
    ran = handler;
  }, shape);
  return {
    name,
    ask: async (bent) => {
      ran = undefined;
      const incoming = incomingOf(bent);
      const outgoing = new ServerResponse(incoming);
      await new Promise<void>((resolve) => {
        outgoing.end = () => {
          resolve();
          return outgoing;
        };
        app(incoming as never, outgoing as never, () => resolve());
      });
      return { ran, seen: [bent.target] };
    },
  };
}

/** Through @hono/node-server, which makes the URL that the application and a gate within it go by. */
function honoReader(name: string, shape: HonoShape): Reader {
  let ran: Handler | undefined;
  let url = '';
  const app = honoOf((handler) => {
    ran = handler;
  }, shape);
  const listener = served(app, (seen) => {
    url = seen;
  });
  return {
    name,
    ask: async (bent) => {
      ran = undefined;
      url = '';
      const incoming = incomingOf(bent);
      await listener(incoming, new ServerResponse(incoming));
      const seen = url.replace(/^https?:\/\/[^/]*/, '');
      return { ran, seen: url === '' ? [bent.target] : [bent.target, seen] };
    },
  };
}

/** On a URL that no parser has tidied. */
function rawHonoReader(name: string): Reader {
  let ran: Handler | undefined;
  const app = honoOf((handler) => {
    ran = handler;
  });
  return {
    name,
    ask: async ({ method, target }) => {
      ran = undefined;
      const request = { url: `http://${host}${target}`, method, headers: new Headers() };
      await app.fetch(request as Request);
      return { ran, seen: [target] };
    },
  };
}

/** As applications of Express are written. */
export const expressReaders: readonly Reader[] = [
  expressReader('Express', {}),
  expressReader('Express, strict', { strict: true }),
  expressReader('Express, mounted', { mounted: true }),
  expressReader('Express, mounted and strict', { mounted: true, strict: true }),
];

/** As applications of Hono are. */
export const honoReaders: readonly Reader[] = [
  honoReader('Hono', {}),
  honoReader('Hono, loose', { loose: true }),
  honoReader('Hono, nested', { nested: true }),
  rawHonoReader('Hono, raw'),
];
