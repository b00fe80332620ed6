/** A host program with an MCP server. Prints a line when the server is connected, then exits or waits for a signal. */
import { mcpServers } from 'keelson/mcp';

const [config = '', way] = process.argv.slice(2);
const mcp = mcpServers({ servers: { a: JSON.parse(config) } });
await mcp.connect();
console.log('ready');
if (way === 'exit') process.exit(0);
setInterval(() => {}, 1_000);
