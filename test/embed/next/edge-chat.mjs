import { Agent } from 'keelson';
import { openai } from 'keelson/openai';
import { createAgentHandler } from 'keelson/ui';

const model = openai('gpt-5-mini', { baseURL: `${process.env.SERVICES}/v1`, apiKey: 'none' });

/** Without MCP servers, because the edge runtime has no modules of Node. */
export const chat = createAgentHandler(new Agent({ model }), {
  authorize: () => 'ada',
  session: (id, user) => `${user}/${id}`,
});
