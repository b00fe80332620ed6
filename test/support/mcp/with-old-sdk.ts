/** A host program whose installation has only `@modelcontextprotocol/sdk` 1.x. Prints the states or errors of its servers. */
import { register } from 'node:module';
import { mcpServers } from 'keelson/mcp';

const hook = `export const resolve = (specifier, context, next) => {
  if (specifier === '@modelcontextprotocol/client') throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(specifier, context);
};`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const servers = JSON.parse(process.argv[2] ?? '{}');
const mcp = mcpServers({ servers, reconnect: false, system: { logger: silent } });
await mcp.connect();
const states = mcp.status().map(({ name, state, lastError }) => [name, lastError ?? state]);
await mcp.close();
console.log(JSON.stringify(Object.fromEntries(states)));
