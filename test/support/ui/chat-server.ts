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

/** Sends requests to a server over HTTP. */
export interface RemoteHandler extends AgentHandler {
  /** The status codes of the responses so far. */
  readonly statuses: number[];
}

/** Returns a handler that sends each request to a server over HTTP. The host of the request is ignored. */
export function remoteHandler({ url }: Pick<ChatServer, 'url'>): RemoteHandler {
  const statuses: number[] = [];
  const send = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const { method, headers, signal } = request;
    const body = method === 'GET' ? {} : { body: await request.text() };
    const response = await fetch(`${url}${pathname}${search}`, { method, headers, signal, ...body });
    statuses.push(response.status);
    return response;
  };
  return Object.assign(send, { statuses });
}
