import { UIHostRefusedError, UIOriginRefusedError } from '../error.js';
import type { HandlerConfig } from './handler-options.js';

/**
 * Throws a UIHostRefusedError unless the request names one of `hosts`. Throws a UIOriginRefusedError if a page of
 * another origin sent the request, unless `origins` has that origin. A program sends no `Origin` header and is
 * accepted.
 */
export function checkOrigin(request: Request, { origins, hosts, trustProxy }: HandlerConfig): void {
  const own = ownOrigin(request, trustProxy);
  if (hosts !== undefined) checkHost(own, hosts);
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  if (origin === null && site === 'cross-site') throw new UIOriginRefusedError('another site', own);
  if (origin === null || site === 'same-origin' || origins.includes(origin)) return;
  if (!isOwn(origin, own)) throw new UIOriginRefusedError(origin, own);
}

/**
 * Returns the origin of the server from the `Host` header or from the headers of a proxy. The URL of the request is not
 * used, because frameworks may invent it.
 */
function ownOrigin({ headers, url }: Request, trustProxy: boolean): URL {
  const { protocol, host } = new URL(url);
  const forwarded = (name: string) => (trustProxy ? headers.get(name)?.split(',')[0]?.trim() : undefined);
  const scheme = forwarded('x-forwarded-proto') ?? protocol.slice(0, -1);
  const own = `${scheme}://${forwarded('x-forwarded-host') ?? headers.get('host') ?? host}`;
  return new URL(URL.canParse(own) ? own : url);
}

/**
 * An attacker can point the name of their page to the address of this server (DNS rebinding). The browser then treats both
 * as one origin, but the `Host` header still has the attacker's name.
 */
function checkHost({ protocol, host, hostname }: URL, hosts: readonly string[]): void {
  const isOwnName = (known: string) =>
    known.toLowerCase() === hostname || new URL(`${protocol}//${known}`).host === host;
  if (!hosts.some(isOwnName)) throw new UIHostRefusedError(host, hosts);
}

/**
 * True if a page belongs to this server. A page with `https:` belongs to a server with `http:` of the same name,
 * because a proxy may end TLS.
 */
function isOwn(origin: string, own: URL): boolean {
  const page = URL.canParse(origin) ? new URL(origin) : undefined;
  return page?.host === own.host && (page.protocol === own.protocol || page.protocol === 'https:');
}

/** Answers a preflight request if its origin is listed. */
export function preflight(request: Request): Response {
  const headers = request.headers.get('access-control-request-headers') ?? 'content-type';
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': headers,
      'access-control-max-age': '600',
    },
  });
}

/** Adds the headers that let a page of a listed origin read the response. */
export function allowOrigin(response: Response, request: Request, origins: readonly string[]): Response {
  if (origins.length === 0) return response;
  // The headers of a response from `authorize` may be immutable.
  const headers = new Headers(response.headers);
  headers.append('vary', 'origin');
  const origin = request.headers.get('origin');
  if (origin !== null && origins.includes(origin)) {
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-allow-credentials', 'true');
    headers.set('access-control-expose-headers', 'keelson-error, retry-after');
  }
  return new Response(response.body, { status: response.status, headers });
}
