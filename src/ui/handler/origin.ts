import { UIHostRefusedError, UIOriginRefusedError } from '../error.js';
import type { HandlerConfig } from './handler-options.js';

/**
 * Throws a UIHostRefusedError unless the request names one of `hosts`. Throws a UIOriginRefusedError if a web page of
 * another origin sent the request, unless `origins` contains that origin. Accepts programs, which send no `Origin`
 * header.
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
 * Returns the origin of the server from the `Host` header or from the headers of a proxy. Does not use the URL of the
 * request, because some frameworks invent its host.
 */
function ownOrigin({ headers, url }: Request, trustProxy: boolean): URL {
  const { protocol, host } = new URL(url);
  const forwarded = (name: string) => (trustProxy ? headers.get(name)?.split(',')[0]?.trim() : undefined);
  const scheme = forwarded('x-forwarded-proto') ?? protocol.slice(0, -1);
  const own = `${scheme}://${forwarded('x-forwarded-host') ?? headers.get('host') ?? host}`;
  return new URL(URL.canParse(own) ? own : url);
}

/**
 * Throws a UIHostRefusedError unless the `Host` header is one of `hosts`. Protects against DNS rebinding, in which a
 * foreign page points its own host name to this server. The browser then treats both as one origin, but the header
 * still has the foreign name.
 */
function checkHost({ protocol, host, hostname }: URL, hosts: readonly string[]): void {
  const isOwnName = (known: string) =>
    known.toLowerCase() === hostname || new URL(`${protocol}//${known}`).host === host;
  if (!hosts.some(isOwnName)) throw new UIHostRefusedError(host, hosts);
}

/**
 * Returns true if a web page belongs to this server. A page with `https:` belongs to a server with `http:` of the same
 * name, because a proxy may end TLS.
 */
function isOwn(origin: string, own: URL): boolean {
  const page = URL.canParse(origin) ? new URL(origin) : undefined;
  return page?.host === own.host && (page.protocol === own.protocol || page.protocol === 'https:');
}

/** Returns the response to a CORS preflight request whose origin was already checked. */
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

/** Adds the CORS headers that let a web page of one of `origins` read the response. */
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
