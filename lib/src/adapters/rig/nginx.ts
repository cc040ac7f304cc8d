/**
 * A real nginx in front of a test's server: a process of this test alone, with its configuration, its cache and its
 * logs in a folder of its own. It knows nothing of an nginx that the machine may run as a service.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export type NginxOptions = {
  /** The port of the server behind it. */
  readonly upstream: number;
  /** Directives without their semicolon, of the one location, beside `proxy_pass`. */
  readonly location?: readonly string[];
  readonly server?: readonly string[];
  readonly http?: readonly string[];
  /** Replaces the address of the server behind, as by the name of an `upstream` group. */
  readonly pass?: string;
};

/** What an operator writes so that the server behind sees the host that was asked for. */
export const passHost: readonly string[] = ['proxy_set_header Host $host'];

/** A cache at its defaults, whose answers say whether they came from it. */
export const cacheZone: readonly string[] = ['proxy_cache_path cache keys_zone=shared:1m'];
export const cached: readonly string[] = [
  'proxy_cache shared',
  'add_header x-cache $upstream_cache_status always',
];

export type Nginx = {
  readonly port: number;
  /** What it has written to its error log. */
  readonly log: () => string;
};

/** Somebody else can take a port between our asking for a free one and nginx binding it; hardly thrice in a row. */
const mostPorts = 3;

/**
 * Ends nginx when our end of the pipe closes: when the test is over, and also when the test's own process dies. The
 * program is named by its usual places too, since only root has them on PATH.
 */
const keeper = `exec 3<&0
PATH="$PATH:/usr/local/sbin:/usr/sbin" nginx -p "$1/" -c "$1/nginx.conf" < /dev/null 3<&- &
read -r line <&3
kill -TERM $! 2> /dev/null
wait $!
`;

/** Starts nginx on a free port of the loopback for the length of a test. */
export async function openNginx(t: TestContext, options: NginxOptions): Promise<Nginx> {
  for (let tries = 1; ; tries += 1) {
    const started = await start(t, await freePort(), options);
    if (started.ok) return started.nginx;
    if (tries === mostPorts || !/Address already in use/.test(started.log)) {
      throw new Error(`nginx does not start: ${started.log}`);
    }
  }
}

type Started = { readonly ok: true; readonly nginx: Nginx } | { readonly ok: false; readonly log: string };

async function start(t: TestContext, port: number, options: NginxOptions): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-nginx-'));
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, options));
  const child = spawn('sh', ['-c', keeper, 'sh', folder], { stdio: ['pipe', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await ended;
    rmSync(folder, { recursive: true });
  };
  // It may have ended by itself.
  child.stdin.on('error', () => {});
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const up = await boots(child, () => log);
  if (!up) {
    await stop();
    return { ok: false, log };
  }
  t.after(stop);
  return { ok: true, nginx: { port, log: () => log } };
}

/** It says so itself: when a worker starts every address is bound, and what cannot be bound is an emergency. */
async function boots(child: ChildProcess, log: () => string): Promise<boolean> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (/\[emerg\]|not found/.test(log())) resolve(false);
      else if (/start worker process \d+/.test(log())) resolve(true);
    };
    child.stderr?.on('data', look);
    child.once('close', () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** What is not written here is nginx's own default. */
function configuration(folder: string, port: number, options: NginxOptions): string {
  const { upstream, location = [], server = [], http = [], pass = `127.0.0.1:${upstream}` } = options;
  const lines = (directives: readonly string[]): string =>
    directives.map((line) => (line.endsWith('}') ? line : `${line};`)).join('\n');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
# Its worker must reach a folder that is ours alone.
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/pid;
lock_file ${folder}/lock;
error_log stderr notice;
events { worker_connections 256; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  ${lines(http)}
  server {
    listen 127.0.0.1:${port};
    ${lines(server)}
    location / {
      proxy_pass http://${pass};
      ${lines(location)}
    }
  }
}
`;
}
