import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describeError } from '../../errors.js';
import { isObject } from '../../internal/json.js';
import { McpConfigError } from '../error.js';
import type { McpServerEntry, McpServerOrigin } from './definition.js';
import { readServerMap } from './server-map.js';

const MAX_BYTES = 1_048_576;

/**
 * Reads the servers of a file such as `.mcp.json`: `{ "mcpServers": { … } }`, or the map alone. No file means no
 * servers. Rejects with a McpConfigError where it is there and cannot be read.
 */
export async function readConfigFile(
  path: string,
  origin: Omit<McpServerOrigin, 'source'>,
): Promise<readonly McpServerEntry[]> {
  const source = resolve(path);
  const text = await readText(source);
  if (text === undefined) return [];
  const map = parse(text, source);
  return readServerMap(map, { ...origin, source });
}

/** Undefined where there is no such file. A pipe or a device is none, and never keeps us waiting. */
async function readText(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new McpConfigError(path, 'it is no file.');
      if (stats.size > MAX_BYTES) throw new McpConfigError(path, `it has ${stats.size} bytes; ${MAX_BYTES} are read.`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error instanceof McpConfigError ? error : new McpConfigError(path, describeError(error), { cause: error });
  }
}

function parse(text: string, path: string): object {
  const parsed = parseJson(text.replace(/^\uFEFF/, ''), path);
  if (isObject(parsed)) return parsed;
  throw new McpConfigError(path, 'it holds no object.');
}

/** Editors write comments and commas at the end into such files. */
function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return JSON.parse(without(TRAILING_COMMA, without(COMMENT, text)));
    } catch {
      throw new McpConfigError(path, `it is no JSON: ${describeError(error)}`, { cause: error });
    }
  }
}

/** Each matches a text in quotes first, which stays as it is, and none goes over the same part of the file twice. */
const COMMENT = /"(?:[^"\\]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
const TRAILING_COMMA = /"(?:[^"\\]|\\.)*"?|,(?=\s*[}\]])/g;

function without(pattern: RegExp, text: string): string {
  return text.replace(pattern, (found) => (found.startsWith('"') ? found : ' '));
}
