import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that the server received. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly message:
    | { readonly id?: number; readonly method?: string; readonly params?: { readonly name?: string } }
    | undefined;
}

/** Answers a request, or returns false for the default answer. */
export type Handler = (request: SeenRequest, response: ServerResponse) => boolean | undefined | void;

/** A minimal MCP server over Streamable HTTP, whose handler can simulate failures. */
export interface HandServer {
  readonly url: string;
  readonly origin: string;
  readonly seen: readonly SeenRequest[];
  /** Closes all connections and stops listening. */
  kill(): Promise<void>;
  revive(): Promise<void>;
}

export async function handServer(handle: Handler = () => false): Promise<HandServer> {
  const seen: SeenRequest[] = [];
  let port = 0;
  let server: Server;
  const listen = async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        const { method = '', url = '', headers } = request;
        const found = { method, path: url, headers, message: body.startsWith('{') ? JSON.parse(body) : undefined };
        seen.push(found);
        if (handle(found, response) !== true && !response.headersSent) answer(found, response);
      });
    }).listen(port, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    port = (server.address() as AddressInfo).port;
  };
  const kill = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  await listen();
  onTestFinished(kill);
  return { url: `http://127.0.0.1:${port}/mcp`, origin: `http://127.0.0.1:${port}`, seen, kill, revive: listen };
}

let sessions = 0;

/** Sends the default answer to a request. */
export function answer({ method, message }: SeenRequest, response: ServerResponse): void {
  if (method === 'GET') return void response.writeHead(405).end();
  if (method === 'DELETE') return void response.writeHead(200).end();
  if (message?.id === undefined) return void response.writeHead(202).end();
  if (message.method === 'initialize') {
    sessions += 1;
    response.setHeader('mcp-session-id', `session-${sessions}`);
  }
  reply(response, { jsonrpc: '2.0', id: message.id, result: RESULTS[message.method ?? ''] ?? {} });
}

export function reply(response: ServerResponse, message: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

/** Default results by method. */
export const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'hand', version: '1' },
  },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'answered' }] },
};
