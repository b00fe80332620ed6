import { UIHostRefusedError, UIOriginRefusedError } from '../error.js';

/**
 * Throws a UIHostRefusedError unless the request names one of the hosts, with any port or with the listed one. An
 * attacker can point the name of their page to the address of this server (DNS rebinding). The browser then treats both as
 * one origin, but the `Host` header still has the attacker's name.
 */
export function checkHost(request: Request, hosts: readonly string[]): void {
  const host = (request.headers.get('host') ?? new URL(request.url).host).toLowerCase();
  const name = host.replace(/:\d*$/, '');
  if (!hosts.some((known) => [host, name].includes(known.toLowerCase()))) throw new UIHostRefusedError(host, hosts);
}

/**
 * Throws a UIOriginRefusedError if the request comes from a page of another origin that is not listed. Requests without
 * an `Origin` header come from programs, or from the page itself.
 */
export function checkOrigin(request: Request, origins: readonly string[]): void {
  const origin = request.headers.get('origin');
  if (origin === null) {
    if (request.headers.get('sec-fetch-site') !== 'cross-site') return;
    throw new UIOriginRefusedError('another site');
  }
  if (!isOwn(origin, request) && !origins.includes(origin)) throw new UIOriginRefusedError(origin);
}

/** Compares the hosts only: a proxy that ends TLS changes the scheme of the request. */
function isOwn(origin: string, request: Request): boolean {
  return URL.canParse(origin) && new URL(origin).host === new URL(request.url).host;
}

/** Answers a preflight request of a listed origin. */
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
  // The headers of a response of `authorize` may be immutable.
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
