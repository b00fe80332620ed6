import { HttpAgent, type RunAgentParameters } from '@ag-ui/client';
import { Agent, defineTool, type ToolContext } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { post } from '../../support/ui/chat-client.js';
import { startChatServer } from '../../support/ui/chat-server.js';

const input = {
  state: { draft: 'Dear Bo' },
  context: [{ description: 'The page that is open', value: 'letters' }],
  forwardedProps: { locale: 'en' },
};

/** A chat whose tool shows the context of its run. */
function chatOf(options: Partial<AgentHandlerOptions>) {
  const seen: unknown[] = [];
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    execute: (_input, { context }: ToolContext) => {
      seen.push(context);
      return 'ok';
    },
  });
  const model = scriptedModel([calls('look'), 'Yes.']);
  const agent = new Agent({ model, tools: [look], logger: keepingLogger() });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, protocol: 'ag-ui', ...options });
  return { seen, model, handler };
}

/** Sends a message with the client of AG-UI, over HTTP. */
async function send(
  { handler }: ReturnType<typeof chatOf>,
  { state, ...parameters }: RunAgentParameters & { state?: unknown },
) {
  await using server = await startChatServer(handler);
  const client = new HttpAgent({ url: server.url, threadId: 't1', initialState: state });
  client.addMessage({ id: 'm1', role: 'user', content: 'Look.' });
  await client.runAgent(parameters);
}

test('the `context` function gets what an AG-UI page sent', async () => {
  const chat = chatOf({ context: (_user, request, page) => ({ method: request.method, page }) });

  await send(chat, input);

  expect(chat.seen).toEqual([{ method: 'POST', page: input }]);
});

test('the `context` function gets no input of a page with another protocol', async () => {
  const chat = chatOf({ protocol: 'sse', context: (_user, _request, page) => page });

  await (await post(chat.handler, '', { id: 'c', message: 'Look.', ...input })).text();

  expect(chat.seen).toEqual([{}]);
});

test('a handler without a `context` function answers a client of AG-UI that has nothing more to send', async () => {
  const chat = chatOf({});

  await send(chat, {});

  expect(chat.seen).toEqual([undefined]);
});

test('without a `context` function, the input of the page is the context of the run', async () => {
  const chat = chatOf({});

  await send(chat, input);

  expect(chat.seen).toEqual([input]);
});
