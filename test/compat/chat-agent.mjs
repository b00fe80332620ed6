// The agent of the chat that test/compat/handler.mjs plays. Also the module of a worker.
import { Agent, defineTool } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';

const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount.',
  input: { type: 'object', properties: { euro: { type: 'number' } } },
  execute: ({ euro }) => `paid ${euro}`,
});

const scripted = scriptedModel(({ messages }) =>
  messages.at(-1).role === 'tool' ? 'Done.' : calls('pay', { euro: 40 }),
);

/** Pays after an approval. The answer to "Wait" has no end. */
const model = {
  id: 'harbour',
  generate(request) {
    if (request.messages.at(-1).content !== 'Wait') return scripted.generate(request);
    return new Promise((_, reject) => {
      const timer = setInterval(() => request.onPart?.({ type: 'text-delta', text: 'Hel' }), 20);
      request.signal.addEventListener('abort', () => {
        clearInterval(timer);
        reject(request.signal.reason);
      });
    });
  },
};

const agent = new Agent({ model, tools: [pay], lifecycle: [approval({ tools: ['pay'] })] });
const chat = createAgentHandler(agent, { authorize: 'none', session: (id) => id });

/** Answers requests of the chat, and `/runs` with the number of active runs. */
export function handler(request) {
  if (new URL(request.url).pathname === '/runs') return Promise.resolve(Response.json(agent.status().runs));
  return chat(request);
}

// biome-ignore lint/style/noDefaultExport: a worker exports its handler as the default.
export default { fetch: handler };
