import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../examples/host/free-port.js';

const root = '/usr/lib/postgresql';
const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
const folderOfPrograms = versions
  .map((version) => join(root, version, 'bin'))
  .find((it) => existsSync(join(it, 'initdb')));
/** True if the programs of a PostgreSQL server are installed. */
export const hasPostgres = folderOfPrograms !== undefined;

/** A PostgreSQL server on a free port, with a cluster in a temporary directory. */
export interface PostgresServer {
  readonly port: number;
  readonly url: string;
  /** Settings for `new Pool()`. */
  readonly settings: { readonly host: string; readonly port: number; readonly user: string; readonly database: string };
  start(): void;
  /** Stops the server at once, like a power failure. The data stay. */
  kill(): void;
  /** Ends all connections, stops the server and starts it again. */
  restart(): void;
  /** Suspends all processes of the server with their connections open. */
  freeze(): void;
  thaw(): void;
  /** Stops the server and removes its data. */
  remove(): void;
}

/** Without fsync a commit is lost only if the machine fails, not if the server is killed. */
const fast = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];

/** Starts a server. `options` are options of the `postgres` program. */
export async function startPostgres(...options: readonly string[]): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-postgres-'));
  const port = await freePort();
  const user = ownerOfCluster(folder);
  const run = (program: string, args: readonly string[]) => runAs(user, join(folderOfPrograms ?? '', program), args);
  const data = join(folder, 'data');
  run('initdb', ['-D', data, '-U', 'keelson', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']);
  const settings = ['-p', `${port}`, '-c', 'listen_addresses=127.0.0.1', '-k', folder, ...fast, ...options];
  const control = (...args: readonly string[]) => run('pg_ctl', ['-D', data, '-w', '-s', ...args]);
  const start = ['start', '-l', join(folder, 'log'), '-o', settings.join(' ')];
  const server: PostgresServer = {
    port,
    url: `postgres://keelson@127.0.0.1:${port}/postgres`,
    settings: { host: '127.0.0.1', port, user: 'keelson', database: 'postgres' },
    start: () => control(...start),
    kill: () => control('stop', '-m', 'immediate'),
    restart() {
      control('stop', '-m', 'fast');
      control(...start);
    },
    freeze: () => signalAll(data, 'SIGSTOP'),
    thaw: () => signalAll(data, 'SIGCONT'),
    remove() {
      if (existsSync(join(data, 'postmaster.pid'))) control('stop', '-m', 'immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  server.start();
  return server;
}

/** PostgreSQL refuses to run as root. Returns the user that runs the server, or undefined for the current user. */
function ownerOfCluster(folder: string): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, , uid, gid] = /^postgres:([^:]*):(\d+):(\d+)/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  chownSync(folder, Number(uid), Number(gid));
  return 'postgres';
}

function runAs(user: string | undefined, program: string, args: readonly string[]): void {
  const [file = '', ...rest] =
    user === undefined
      ? [program, ...args]
      : ['setpriv', '--reuid', user, '--regid', user, '--clear-groups', program, ...args];
  execFileSync(file, rest, { stdio: ['ignore', 'ignore', 'inherit'], cwd: '/' });
}

function signalAll(data: string, signal: 'SIGSTOP' | 'SIGCONT'): void {
  const [leader = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  const children = readFileSync(`/proc/${leader}/task/${leader}/children`, 'utf8').trim().split(' ').filter(Boolean);
  // The leader first, so that it starts no further process in between.
  for (const pid of [leader, ...children]) process.kill(Number(pid), signal);
}
