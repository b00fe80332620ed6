import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { freePort } from './free-port.js';

/** A PostgreSQL server for one example. */
export interface TemporaryPostgres {
  readonly url: string;
  stop(): void;
}

/** Starts a server with a cluster in a temporary directory. Resolves with undefined if PostgreSQL is not installed. */
export async function startPostgres(): Promise<TemporaryPostgres | undefined> {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  const version = versions.find((it) => existsSync(`${root}/${it}/bin/initdb`));
  if (version === undefined) return undefined;
  const folder = mkdtempSync(`${tmpdir()}/keelson-`);
  // PostgreSQL refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const become = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  const run = (program: string, ...args: string[]) => {
    const [file = '', ...rest] = [...become, `${root}/${version}/bin/${program}`, ...args];
    execFileSync(file, rest, { stdio: 'ignore', cwd: '/' });
  };
  if (isRoot) execFileSync('chown', ['postgres', folder]);
  run('initdb', '-D', `${folder}/data`, '-U', 'keelson', '-A', 'trust', '--no-sync');
  const port = await freePort();
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`;
  run('pg_ctl', '-D', `${folder}/data`, '-w', '-l', `${folder}/log`, '-o', options, 'start');
  return {
    url: `postgres://keelson@127.0.0.1:${port}/postgres`,
    stop() {
      run('pg_ctl', '-D', `${folder}/data`, '-w', '-m', 'immediate', 'stop');
      rmSync(folder, { recursive: true });
    },
  };
}
