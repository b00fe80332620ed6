import { isObject } from '../../internal/json.js';
import type { JsonRpcMessage } from './json-rpc.js';

/** The key in `_meta` of a request that names its revision. Requests before 2026-07-28 do not have it. */
const REVISION = 'io.modelcontextprotocol/protocolVersion';

/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ...['tasks/get', 'tasks/update', 'tasks/cancel'].map((method) => [method, 'taskId'] as const),
]);

/** Returns the headers that repeat parts of a stateless request. Undefined for every other message. */
export function statelessHeaders(message: JsonRpcMessage): Readonly<Record<string, string>> | undefined {
  const { method, params = {} } = 'method' in message ? message : { method: '' };
  const revision = isObject(params._meta) ? params._meta[REVISION] : undefined;
  if (typeof revision !== 'string') return undefined;
  const name = params[NAMES.get(method) ?? ''];
  const own = { 'mcp-protocol-version': revision, 'mcp-method': method };
  return typeof name === 'string' ? { ...own, 'mcp-name': headerValue(name) } : own;
}

/** Encodes a string that cannot be the value of a header, or that looks encoded. */
function headerValue(text: string): string {
  const isPlain = /^[!-~](?:[\t -~]*[!-~])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
