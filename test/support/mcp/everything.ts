import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { McpServerConfig } from 'keelson/mcp';

/** Returns the configuration of an installed reference server of the MCP project. */
export function realServer(name: 'everything' | 'filesystem' | 'memory', ...args: string[]): McpServerConfig {
  return { command: process.execPath, args: [entryOf(name), ...args] };
}

function entryOf(name: string): string {
  return fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`));
}

/** A reference server over HTTP. Disposing kills it. */
export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
}

/** Starts the reference server `everything` over HTTP, on the given port or a free one. */
export async function everythingOverHttp(mode: 'sse' | 'streamableHttp', port?: number): Promise<HttpServer> {
  const chosen = port ?? (await freePort());
  const child = spawn(process.execPath, [entryOf('everything'), mode], {
    env: { PATH: process.env.PATH, PORT: String(chosen) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let output = '';
    const listen = (chunk: Buffer) => {
      output += chunk;
      if (/listening|running on port/i.test(output)) resolve();
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('exit', () => reject(new Error(`server-everything did not start: ${output}`)));
  });
  return {
    url: `http://127.0.0.1:${chosen}/${mode === 'sse' ? 'sse' : 'mcp'}`,
    child,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
