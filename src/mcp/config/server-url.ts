import { BlockList, isIPv4, isIPv6 } from 'node:net';

export function problemOfUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return 'its `url` must be a complete http: or https: URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return `its \`url\` must begin with http: or https:, got ${url.protocol}`;
  }
  if (url.username !== '' || url.password !== '')
    return 'its `url` must not contain a user name or a password; use `headers`';
  return undefined;
}

const PRIVATE = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  PRIVATE.addSubnet(net, bits, isIPv4(net) ? 'ipv4' : 'ipv6');
}

/**
 * Returns true if a URL names this machine or a private network. A person who approves the server sees the result. Host
 * names are not resolved. A URL with a variable in its host counts as private.
 */
export function isPrivateUrl(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const host = new URL(text).hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (isIPv4(host)) return PRIVATE.check(host, 'ipv4');
  if (isIPv6(host)) return PRIVATE.check(host, 'ipv6');
  return (
    host.includes('$') || host === 'localhost' || /\.(localhost|local|internal)$/.test(host) || !host.includes('.')
  );
}
