import { Agent } from 'keelson';
import { mcpServers } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';

const files = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] };
const servers = mcpServers({ servers: { files }, waitForServers: true });

const model = scriptedModel([calls('mcp__files__list_directory', { path: '.' }), says('Done.')]);
const agent = new Agent({ model, loaders: [servers] });
await agent.ready();
const { messages } = await agent.run('Which files are here?');
console.log(messages.find(({ role }) => role === 'tool')?.content);
await agent.close();
