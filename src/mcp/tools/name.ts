import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const MAX_SERVER_LENGTH = 28;
const HASH_LENGTH = 12;
/**
 * Matches the end of a shortened name: a hash. An original name that ends in this way gets a hash too, so that it
 * cannot equal a shortened name.
 */
const MARK = new RegExp(`-x[0-9a-z]{${HASH_LENGTH}}$`);

/**
 * Returns the name of a server's tool for the model: `mcp__server__tool`. Two tools have the same name only if their
 * servers and their own names are the same. Characters that providers reject are replaced, and a hash is appended.
 */
export function toolName(server: string, tool: string): string {
  const prefix = toolPrefix(server);
  return prefix + segment(tool, MAX_LENGTH - prefix.length);
}

export function toolPrefix(server: string): string {
  return `mcp__${serverSegment(server)}__`;
}

/** Returns the server's segment of a tool name. It contains no `__` and does not end with `_`, so its end is unambiguous. */
export function serverSegment(server: string): string {
  const isUnambiguous = !server.includes('__') && !server.startsWith('_') && !server.endsWith('_');
  return isUnambiguous ? segment(server, MAX_SERVER_LENGTH) : shortened(server, MAX_SERVER_LENGTH);
}

function segment(text: string, max: number): string {
  const isLegal = /^[A-Za-z0-9_-]+$/.test(text) && text.length <= max && !MARK.test(text);
  return isLegal ? text : shortened(text, max);
}

function shortened(text: string, max: number): string {
  const legal = text.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, max - HASH_LENGTH - 2);
  return `${legal.replace(/^_+|_+$/g, '')}-x${hash(text)}`;
}

/** Returns 62 bits of a SHA-256 hash as digits and lower-case letters. */
function hash(text: string): string {
  const bytes = createHash('sha256').update(text, 'utf8').digest();
  return bytes.readBigUInt64BE().toString(36).padStart(13, '0').slice(-HASH_LENGTH);
}
