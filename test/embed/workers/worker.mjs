import { waitUntil } from 'cloudflare:workers';
import { createAgentHandler } from 'keelson/ui';
import { agent } from './chat.mjs';

const chat = createAgentHandler(agent, {
  authorize: () => 'ada',
  session: (id, user) => `${user}/${id}`,
  waitUntil,
});

export default { fetch: chat };
