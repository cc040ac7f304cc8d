/**
 * The start-up self-test (H05, design 9.19): every declared route is asked, unpaid, through the application's own door.
 * An answer that does not carry this boot's random mark did not pass the gate of that route, whatever its status.
 */
import { encodeUtf8 } from '../wire/utf8.ts';
import { fillPattern } from './catalogue.ts';
import type { HeaderList } from './message.ts';
import type { Declared } from './roster.ts';

export type ProbeRequest = {
  readonly method: string;
  /** Origin form. */
  readonly target: string;
  /** Host included. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
};

export type ProbeAnswer = { readonly status: number; readonly headers: HeaderList };

/** Sends one request through an application as a client would; each adapter makes one with `probe(application)`. */
export type Probe = (request: ProbeRequest) => Promise<ProbeAnswer>;

/** On the request: this boot's mark. */
export const probeHeader = 'counterfoil-probe';
/** On the answer: the mark, and the route whose gate was met. */
export const markHeader = 'counterfoil-mark';

/** Probes under way at once: a start is in no hurry, and a test of it must not be a burst. */
const atOnce = 8;

/** Methods that come with a body. */
const bodied: readonly string[] = ['PATCH', 'POST', 'PUT'];
/** A body, so that a parser before the gate, which would take it from every buyer, is found at the start too. */
const sample = { type: 'application/json', text: '{}' };

export type SelfTest = {
  readonly routes: readonly Declared[];
  readonly probe: Probe;
  /** Names of routes that need not be reachable through this application. */
  readonly except: readonly string[];
  readonly mark: string;
  readonly origin: string;
};

/** Resolves when every route was met; rejects with one line for each that was not. */
export async function selfTest(test: SelfTest): Promise<void> {
  const names = new Set(test.routes.map(({ name }) => name));
  for (const name of test.except) {
    if (!names.has(name)) throw new TypeError(`ready: no route "${name}" was declared.`);
  }
  const waiting = test.routes.filter(({ name }) => !test.except.includes(name));
  const open: string[] = [];
  const worker = async (): Promise<void> => {
    for (let route = waiting.shift(); route !== undefined; route = waiting.shift()) {
      const fault = await ask(test, route);
      if (fault !== undefined) open.push(fault);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (open.length > 0) throw new Error(`The self-test did not meet every gate.\n${open.sort().join('\n')}`);
}

const brokenGate =
  'reached its gate, which failed. Does something before it read the body? The alarm internal_error says what.';
const missing =
  'Is the gate mounted, before the handler, and the path written in full, with every prefix it is mounted under?';
/** Whoever may refuse strangers before the gate, such as a login, cannot be told from a gate that is not there. */
const missingOrLate = `${missing} Or does something before it refuse? A body parser belongs behind the gate; a route behind a login is named in "except".`;

async function ask(test: SelfTest, route: Declared): Promise<string | undefined> {
  const target = fillPattern(route.path);
  const hasBody = bodied.includes(route.method);
  const { host, protocol } = new URL(test.origin);
  const headers: HeaderList = [
    ['host', host],
    // As the proxy in front would say: many applications send everybody else to https first.
    ['x-forwarded-proto', protocol.slice(0, -1)],
    [probeHeader, test.mark],
    ...(hasBody ? [['content-type', sample.type] as const] : []),
  ];
  try {
    const { status, headers: fields } = await test.probe({
      method: route.method,
      target,
      headers,
      body: hasBody ? encodeUtf8(sample.text) : new Uint8Array(),
    });
    const met = fields.find(([name]) => name.toLowerCase() === markHeader)?.[1];
    if (met === `${test.mark} ${route.name}`) {
      // A gate that cannot even refuse, as behind a body parser, would sell nothing.
      return status === 500 ? `${route.name}: ${target} ${brokenGate}` : undefined;
    }
    if (met?.startsWith(`${test.mark} `) === true)
      return `${route.name}: ${target} is sold by ${met.slice(test.mark.length + 1)}.`;
    return `${route.name}: ${target} answered ${status} without passing its gate. ${status < 300 ? missing : missingOrLate}`;
  } catch (fault) {
    return `${route.name}: ${target} could not be asked (${fault instanceof Error ? fault.message : 'unknown'}).`;
  }
}
