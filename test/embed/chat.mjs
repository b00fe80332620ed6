import { Agent } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { mcpServers } from 'keelson/mcp';
import { openai } from 'keelson/openai';
import { createAgentHandler } from 'keelson/ui';

const { SERVICES } = process.env;

export const agent = new Agent({
  model: openai('gpt-5-mini', { baseURL: `${SERVICES}/v1`, apiKey: 'none' }),
  loaders: [mcpServers({ servers: { harbour: { url: `${SERVICES}/mcp` } }, waitForServers: true })],
  lifecycle: [approval({ tools: ['mcp__harbour__book'] })],
});

/** Everybody is one user here. An application reads who sends the request. */
export const chat = createAgentHandler(agent, { authorize: () => 'ada', session: (id, user) => `${user}/${id}` });
