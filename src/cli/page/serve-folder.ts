import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { lstat, readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { TRACE_ENDING } from '../../trace/destination.js';
import { readTraceFile } from '../trace-file.js';
import { type Page, pageOf } from './page.js';

const COOKIE = 'keelson-trace';

/** The server of a page that shows the traces of a folder. */
export interface FolderServer {
  /** The address of the page, with the token that opens it. */
  readonly url: string;
  close(): void;
}

/**
 * Serves a page on 127.0.0.1 that shows the traces of a folder. Only a browser that has opened `url` can read them.
 *
 * The page has a random path, and its cookie is limited to this path. A browser ignores the port of a cookie, so it
 * would send a cookie of the path `/` to every other server on 127.0.0.1.
 */
export async function serveFolder(folder: string): Promise<FolderServer> {
  const page = await pageOf();
  const [root, token] = [`/${randomBytes(12).toString('base64url')}/`, randomBytes(24).toString('base64url')];
  const traces = new ListedTraces(folder);
  const server = createServer((request, response) => {
    answer({ request, page, root, token, host: `127.0.0.1:${port}`, traces })
      .catch((): Answer => ({ status: 500, text: 'The trace cannot be read.' }))
      .then((answered) => send(response, page, answered))
      .catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${root}?token=${token}`, close: () => server.close() };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly page: Page;
  /** The path of the page. All paths of the server begin with it. */
  readonly root: string;
  readonly token: string;
  /** The only accepted `Host` header, so that a web page with another host name cannot reach the server. */
  readonly host: string;
  readonly traces: ListedTraces;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const NOT_FOUND: Answer = { status: 404, text: 'Not found.' };

async function answer({ request, page, root, token, host, traces }: Exchange): Promise<Answer> {
  if (request.headers.host !== host || request.method !== 'GET') return { status: 403, text: 'Forbidden.' };
  const { pathname, searchParams } = new URL(request.url ?? '/', `http://${host}`);
  const offered = searchParams.get('token');
  if (pathname === root && offered !== null && isEqual(offered, token)) return enter(root, token);
  const cookies = (request.headers.cookie ?? '').split('; ');
  if (!pathname.startsWith(root) || !cookies.some((cookie) => isEqual(cookie, `${COOKIE}=${token}`))) {
    return { status: 403, text: 'Open the address that `keelson trace` has printed.' };
  }
  const asked = pathname.slice(root.length);
  if (asked === '') return { status: 200, text: page.html, type: 'text/html' };
  if (asked === 'traces') return { status: 200, text: JSON.stringify(await traces.list()), type: 'application/json' };
  const text = asked.startsWith('traces/') ? await traces.read(asked.slice('traces/'.length)) : undefined;
  return text === undefined ? NOT_FOUND : { status: 200, text, type: 'text/plain' };
}

/** Answers the address with the token: sets a cookie, and redirects to an address without the token. */
function enter(root: string, token: string): Answer {
  const cookie = `${COOKIE}=${token}; HttpOnly; SameSite=Strict; Path=${root}`;
  return { status: 303, text: '', headers: { location: root, 'set-cookie': cookie } };
}

function send(
  response: ServerResponse,
  { policy }: Page,
  { status, text, type = 'text/plain', headers }: Answer,
): void {
  response.writeHead(status, {
    ...headers,
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  response.end(text);
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The traces of a folder. The page asks for a trace by a random id, so that it cannot read other files. */
class ListedTraces {
  private readonly ids = new Map<string, string>();

  constructor(private readonly folder: string) {}

  /** Returns the traces, the newest first. Their names begin with their time. Symbolic links are left out. */
  async list() {
    const names = (await readdir(this.folder)).filter((name) => name.endsWith(TRACE_ENDING));
    const listed = await Promise.all(
      names
        .sort()
        .reverse()
        .map((name) => this.entryOf(name)),
    );
    return listed.flatMap((entry) => entry ?? []);
  }

  /** Returns the text of a trace, or undefined for an unknown id. */
  async read(id: string): Promise<string | undefined> {
    const found = [...this.ids].find(([, one]) => one === id);
    return found && readTraceFile(join(this.folder, found[0]), true);
  }

  private async entryOf(name: string) {
    const stats = await lstat(join(this.folder, name)).catch(() => undefined);
    if (stats?.isFile() !== true) return undefined;
    const id = this.ids.get(name) ?? randomUUID();
    this.ids.set(name, id);
    return { id, name: name.slice(0, -TRACE_ENDING.length), size: stats.size };
  }
}
