const { Agent } = require('keelson');
const { approval } = require('keelson/lifecycles');
const { mcpServers } = require('keelson/mcp');
const { openai } = require('keelson/openai');
const { createAgentHandler } = require('keelson/ui');

const { SERVICES } = process.env;

const agent = new Agent({
  model: openai('gpt-5-mini', { baseURL: `${SERVICES}/v1`, apiKey: 'none' }),
  lifecycle: [approval({ tools: ['mcp__harbour__book'] })],
  loaders: [mcpServers({ servers: { harbour: { url: `${SERVICES}/mcp` } }, waitForServers: true })],
});

exports.chat = createAgentHandler(agent, { authorize: () => 'ada', session: (id, user) => `${user}/${id}` });
