import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../../../examples/host/free-port.js';
import { pause } from '../../agent/settle.js';
import { blocksOf, readPage } from '../../docs/doc-files.js';

const hasNginx = spawnSync('nginx', ['-v']).status === 0;

/** Like `describe`. Without nginx, the tests are skipped, or fail in CI. */
export function describeWithNginx(title: string, tests: () => void): void {
  if (hasNginx) return void describe(title, tests);
  if (process.env.CI === 'true') {
    return void test(title, () => expect.fail('nginx is not installed: apt-get install nginx'));
  }
  console.log(`Skipped, since nginx is not installed: ${title}`);
  describe.runIf(false)(title, tests);
}

/** The configuration of docs/behind-a-proxy.md. */
export const documented = nginxBlockOf('docs/behind-a-proxy.md');

/** A proxy with the defaults of nginx. */
export const defaults = 'server { listen 80; location / { proxy_pass http://127.0.0.1:3000; } }';

/** Returns the only configuration of nginx on a page. */
function nginxBlockOf(path: string): string {
  const blocks = blocksOf({ path, text: readPage(path) }).filter(({ language }) => language === 'nginx');
  if (blocks[0] === undefined || blocks.length > 1) throw new Error(`${path} must have one block of nginx.`);
  return blocks[0].code;
}

/** An nginx process on a free port. */
export interface Nginx extends AsyncDisposable {
  readonly url: string;
  /** Kills the process, and cuts all connections. */
  kill(): Promise<void>;
  /** Starts nginx again on the same port. */
  start(): Promise<void>;
}

export interface NginxOptions {
  /** A server of nginx that listens on port 80, in front of `127.0.0.1:3000`. */
  readonly site: string;
  /** The addresses to use instead of `127.0.0.1:3000`. */
  readonly servers: readonly string[];
  /** Directives beside the server. */
  readonly http?: string | undefined;
  /** Parameters of `listen`. */
  readonly listen?: string | undefined;
}

export async function startNginx({ site, servers, http = '', listen = '' }: NginxOptions): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const placed = site
    .replace('listen 80', `listen 127.0.0.1:${port} ${listen}`)
    .replace('server 127.0.0.1:3000;', servers.map((server) => `server ${server};`).join(' '))
    .replace('http://127.0.0.1:3000', `http://${servers[0]}`);
  const config = `daemon off; master_process off; pid ${folder}/pid; events {}
http { access_log off; ${temporary.join(' ')} ${http}\n${placed}\n}`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  const log = join(folder, 'error.log');
  let child: ChildProcess | undefined;
  const server = {
    url: `http://127.0.0.1:${port}`,
    async start() {
      child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', log], { stdio: 'ignore' });
      while (!(await listens(port))) {
        if (child.exitCode !== null) throw new Error(readFileSync(log, 'utf8'));
        await pause(10);
      }
    },
    async kill() {
      if (child?.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
