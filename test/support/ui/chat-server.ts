import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AgentHandler, toNodeListener } from 'keelson/ui';

/** A server of node:http with a handler, on a free port of this machine. */
export interface ChatServer extends AsyncDisposable {
  readonly url: string;
  readonly server: Server;
}

/** Starts a server for a handler. */
export async function startChatServer(handler: AgentHandler): Promise<ChatServer> {
  const server = createServer(toNodeListener(handler));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends JSON to a URL. */
export function postTo(url: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...init.headers };
  return fetch(url, { ...init, method: 'POST', headers, body: JSON.stringify(body) });
}
