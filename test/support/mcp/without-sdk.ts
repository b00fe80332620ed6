/** A host program whose installation has no SDK of MCP. Prints the errors and the state of a server. */
import { register } from 'node:module';
import { mcpServers } from 'keelson/mcp';

const hook = `export const resolve = (specifier, context, next) => {
  if (specifier.startsWith('@modelcontextprotocol/')) throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(specifier, context);
};`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const silent = { debug() {}, info() {}, warn() {} };
const error = (text: string, details?: unknown) => console.log((details as { code: string }).code, text);
const mcp = mcpServers({ servers: { a: { command: 'node' } }, system: { logger: { ...silent, error } } });
await mcp.connect();
console.log(mcp.status()[0]?.state);
