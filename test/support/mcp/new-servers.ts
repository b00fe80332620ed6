import { spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { McpServerConfig } from 'keelson/mcp';
import { onTestFinished } from 'vitest';
import { type AtEnd, fixture } from './lab.js';

/** A server that runs as a process and speaks HTTP on this machine. */
export interface LoopbackServer {
  readonly url: string;
  /** The lines that the server has written since its URL. */
  readonly lines: readonly string[];
  /** Returns the standard error of the server. */
  readonly errors: () => string;
}

/** Configures the server of the SDK that speaks only 2026-07-28, over stdio. */
export function sdkServer(): McpServerConfig {
  return { command: process.execPath, args: [fixture('stateless-server.mjs')] };
}

/** Configures the server without a library that speaks only 2026-07-28, over stdio. */
export function bareServer(config: object = {}): McpServerConfig {
  return { command: process.execPath, args: [fixture('bare-server.mjs'), JSON.stringify(config)] };
}

/** Starts the server of the SDK over HTTP. It ends with the test. */
export function sdkServerOverHttp(atEnd?: AtEnd): Promise<LoopbackServer> {
  return start([fixture('stateless-server.mjs'), 'http'], atEnd);
}

/** Starts the server without a library over HTTP. It ends with the test. */
export function bareServerOverHttp(config: object = {}, atEnd?: AtEnd): Promise<LoopbackServer> {
  return start([fixture('bare-server.mjs'), JSON.stringify({ over: 'http', ...config })], atEnd);
}

async function start(args: readonly string[], atEnd: AtEnd = onTestFinished): Promise<LoopbackServer> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  atEnd(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('http')) resolve(line);
      else lines.push(line);
    });
    child.once('exit', () => reject(new Error(`the server did not start: ${errors}`)));
  });
  return { url, lines, errors: () => errors };
}

/** Starts a load balancer that sends each request to the next server. Returns its URL. */
export async function balanced(servers: readonly LoopbackServer[], atEnd: AtEnd = onTestFinished): Promise<string> {
  let count = 0;
  const balancer = createServer((incoming, response) => {
    const { url = '' } = servers[count++ % servers.length] ?? {};
    const { method, headers } = incoming;
    const outgoing = request(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on('close', () => outgoing.destroy());
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => balancer.once('listening', resolve));
  atEnd(() => {
    balancer.closeAllConnections();
    balancer.close();
  });
  return `http://127.0.0.1:${(balancer.address() as AddressInfo).port}/mcp`;
}
