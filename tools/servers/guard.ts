/**
 * Sees to it that a server does not outlive this process, however this process ends: a shell holds a pipe to us, and
 * when the pipe closes without a word it ends the server and removes its folder. Node cannot notice a SIGKILL of
 * itself. The shell keeps this process alive no more than the server does.
 */
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * Each line that it reads is the pid to end, an empty one when there is none just now, or `bye`. A database that is
 * asked first takes its shared memory with it; after two seconds nobody is asked any more.
 */
const program = `
pid=
# What has ended and was not yet asked about has a pid still, but no program.
runs() { kill -s 0 "$pid" && { [ ! -d /proc/self ] || [ -e "/proc/$pid/exe" ]; }; }
while read -r line; do
  [ "$line" = bye ] && exit 0
  pid=$line
done
looks=0
if [ -n "$pid" ]; then
  kill -s "$1" "$pid"
  while runs && [ $looks -lt 40 ]; do looks=$((looks + 1)); sleep 0.05; done
  kill -s KILL "$pid"
fi 2> /dev/null
looks=0
until rm -rf "$2" || [ $looks -ge 100 ]; do looks=$((looks + 1)); sleep 0.05; done 2> /dev/null
`;

/** The hold on one server's folder and, while it runs, on its process. */
export type Guard = {
  /** Tells which process is to be ended from now on; undefined while there is none. */
  readonly watch: (pid: number | undefined) => void;
  /** Lets go: the folder is its owner's to remove. */
  readonly release: () => void;
};

/** Guards `folder` until released; the process watched is sent `signal` first and killed two seconds later. */
export function guardOver(folder: string, signal: 'TERM' | 'QUIT'): Guard {
  const shell = spawn('sh', ['-c', program, 'sh', signal, folder], {
    // A group of its own: what a terminal sends to ours must not reach it.
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => {});
  shell.unref();
  const { stdin } = shell;
  stdin.on('error', () => {});
  if (stdin instanceof Socket) stdin.unref();
  return {
    watch: (pid) => stdin.write(`${pid ?? ''}\n`),
    release: () => stdin.end('bye\n'),
  };
}
