import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const MAX_SERVER_LENGTH = 28;
const HASH_LENGTH = 12;
/** What ends a shortened name. A name that ends so by itself is shortened too, so that no two become one. */
const MARK = new RegExp(`-x[0-9a-z]{${HASH_LENGTH}}$`);

/**
 * The name of a server's tool for the model: `mcp__server__tool`. Two tools share a name only where both their servers
 * and their own names are the same. What no provider would accept is replaced, and told apart by a hash.
 */
export function toolName(server: string, tool: string): string {
  const prefix = `mcp__${serverSegment(server)}__`;
  return prefix + segment(tool, MAX_LENGTH - prefix.length);
}

/** What stands for a server in the names of its tools. It holds no `__` and ends with no `_`, so its end is plain. */
export function serverSegment(server: string): string {
  const isPlain = !server.includes('__') && !server.startsWith('_') && !server.endsWith('_');
  return isPlain ? segment(server, MAX_SERVER_LENGTH) : shortened(server, MAX_SERVER_LENGTH);
}

function segment(text: string, max: number): string {
  const isLegal = /^[A-Za-z0-9_-]+$/.test(text) && text.length <= max && !MARK.test(text);
  return isLegal ? text : shortened(text, max);
}

function shortened(text: string, max: number): string {
  const legal = text.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, max - HASH_LENGTH - 2);
  return `${legal.replace(/^_+|_+$/g, '')}-x${hash(text)}`;
}

/** 62 bits in digits and small letters. */
function hash(text: string): string {
  const bytes = createHash('sha256').update(text, 'utf8').digest();
  return bytes.readBigUInt64BE().toString(36).padStart(13, '0').slice(-HASH_LENGTH);
}
