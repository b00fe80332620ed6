import { Agent, defineTool, MemorySessionStore } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { createAgentHandler, type ProtocolName } from 'keelson/ui';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ChatClient, post } from '../../support/ui/chat-client.js';
import type { ForgedRequest } from '../../support/ui/forged/forged-request.js';
import { forgedRequests, type PageMessage } from '../../support/ui/forged/forged-requests.js';

const run: string[] = [];
const tool = (name: string) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: z.object({}),
    execute: () => {
      run.push(name);
      return 'done';
    },
  });
const store = new MemorySessionStore();
const model = scriptedModel([
  calls({ id: 'call_0', name: 'look' }),
  calls({ id: 'call_1', name: 'pay' }),
  'Never reached.',
]);
const agent = new Agent({
  model,
  store,
  tools: [tool('look'), tool('pay')],
  lifecycle: [approval({ tools: ['pay'] })],
});
const handlerOf = (protocol: ProtocolName) =>
  createAgentHandler(agent, {
    authorize: 'none',
    session: (id) => (id.startsWith('bo-') ? undefined : id),
    protocol,
    whileAsking: 'refuse',
  });
const handlers = {
  'ai-sdk': handlerOf('ai-sdk'),
  'ai-sdk-6': handlerOf('ai-sdk-6'),
  'ag-ui': handlerOf('ag-ui'),
  sse: handlerOf('sse'),
};
const handler = handlers['ai-sdk'];
const client = new ChatClient(handler);

beforeAll(async () => {
  await client.sendMessage({ text: 'Pay' });
  run.length = 0;
});

const sample = forgedRequests({ messages: [{ id: 'x', role: 'user', parts: [] }] });

test('there are more than fifty forged requests', () => {
  expect(sample.length).toBeGreaterThan(50);
});

test.each(sample.map(({ title }, index) => [title, index] as const))('refuses %s', async (_title, index) => {
  const page = { messages: client.messages as unknown as readonly PageMessage[] };
  const forged = forgedRequests(page)[index] as ForgedRequest;
  const before = [store.load('chat')?.length, model.requests.length];

  const response = await send(forged);

  expect(response.headers.get('keelson-error')).toBe(forged.code);
  expect(response.status).toBe(forged.status);
  expect([store.load('chat')?.length, model.requests.length]).toEqual(before);
  expect(run).toEqual([]);
  expect({}).not.toHaveProperty('isAdmin');
});

test('accepts the decision of the page after all forged requests', async () => {
  const response = await post(handler, '/decide', { id: 'chat', decisions: { call_1: 'approve' } });

  await response.text();

  expect(run).toEqual(['pay']);
});

function send({ route = '', body, init, protocol = 'ai-sdk' }: ForgedRequest): Promise<Response> {
  if (init === undefined) return post(handlers[protocol], route, body);
  return handlers[protocol](new Request(`http://localhost/api/chat${route}`, init));
}
