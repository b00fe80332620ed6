import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type Published, type Remote, scratch } from './published.js';

/** The program of a server. */
export interface Launch {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/** One way to reach a server: for the SDK, and as an entry of `mcpServers`. */
export interface Reached {
  readonly transport: () => Transport;
  readonly entry: Readonly<Record<string, unknown>>;
}

/** Starts a server, passes it to a client, and ends it. */
export type Reach = <T>(use: (reached: Reached) => Promise<T>) => Promise<T>;

/** Returns the program of a package, or undefined if the package is not installed. */
export function launchOf(
  folder: string,
  name: string,
  { args = [], env = {} }: Pick<Published, 'args' | 'env'>,
): Launch | undefined {
  const root = join(folder, 'node_modules', name);
  if (!existsSync(join(root, 'package.json'))) return undefined;
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    bin?: string | Record<string, string>;
  };
  const path = typeof bin === 'string' ? bin : (bin?.[name.split('/').at(-1) ?? ''] ?? Object.values(bin ?? {})[0]);
  if (path === undefined) return undefined;
  return {
    command: process.execPath,
    args: [join(root, path), ...args],
    env: { HOME: scratch, PATH: process.env.PATH ?? '', ...env },
  };
}

/** Reaches a server over stdio. The client starts the process in the scratch folder, because some servers write logs. */
export function overStdio({ command, args, env }: Launch): Reach {
  return (use) =>
    use({
      transport: () => new StdioClientTransport({ command, args, env, cwd: scratch, stderr: 'ignore' }),
      entry: { command, args, env, cwd: scratch },
    });
}

const START_MS = 30_000;

/** Reaches a server on a free port. Each client gets a process, because some servers accept only one client. */
export function overPort({ command, args, env }: Launch, { type, path }: Remote): Reach {
  return async (use) => {
    const port = await freePort();
    const withPort = (text: string) => text.replace('PORT', `${port}`);
    const variables = Object.entries(env).map(([name, value]) => [name, withPort(value)]);
    const child = spawn(command, args.map(withPort), {
      ...{ env: Object.fromEntries(variables), stdio: 'ignore' as const, cwd: scratch },
    });
    try {
      const end = Date.now() + START_MS;
      while (!(await accepts(port))) {
        if (child.exitCode !== null || Date.now() > end)
          throw new TypeError(`The server does not listen on port ${port}.`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const url = `http://localhost:${port}${path}`;
      const Sdk = type === 'http' ? StreamableHTTPClientTransport : SSEClientTransport;
      return await use({ transport: () => new Sdk(new URL(url)), entry: { type, url } });
    } finally {
      child.kill('SIGKILL');
    }
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, 'localhost')
      .on('connect', () => resolve(socket.destroy() !== undefined))
      .on('error', () => resolve(false));
  });
}
