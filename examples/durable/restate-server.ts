import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../host/free-port.js';

/** A Restate server of this program. Its data is removed when it stops. */
export interface RestateServer {
  /** The URL for calls of services. */
  readonly ingress: string;
  /** Tells the server where a service listens. */
  register(uri: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Restate server from npm. Returns undefined if the package has no program for this platform. */
export async function startRestateServer(): Promise<RestateServer | undefined> {
  const program = findProgram();
  if (program === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'keelson-restate-'));
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const env = {
    ...process.env,
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_INGRESS__BIND_PORT: `${ingress}`,
    RESTATE_ADMIN__BIND_PORT: `${admin}`,
    RESTATE_BIND_PORT: `${node}`,
  };
  const child = spawn(program, ['--node-name', 'n1', '--base-dir', folder, '--no-logo'], { env, stdio: 'ignore' });
  return {
    ingress: `http://127.0.0.1:${ingress}`,
    register: (uri) => post(`http://127.0.0.1:${admin}/deployments`, { uri }),
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a JSON request, again until the server accepts it. */
export async function post<T = void>(url: string, body: unknown): Promise<T> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  for (;;) {
    const response = await fetch(url, request).catch(() => undefined);
    const text = await response?.text();
    if (response?.ok) return (text ? JSON.parse(text) : undefined) as T;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function findProgram(): string | undefined {
  try {
    const name = `@restatedev/restate-server-${process.platform}-${process.arch}/package.json`;
    const program = join(dirname(createRequire(import.meta.url).resolve(name)), 'bin', 'restate-server');
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}
