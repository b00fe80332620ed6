import { Agent, defineTool, MemorySessionStore } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { resultsIn } from '../../support/agent/transcript.js';
import { loadHistory, post } from '../../support/ui/chat-client.js';
import { readSSE } from '../../support/ui/read-sse.js';

const askColour = defineTool({
  name: 'askColour',
  description: 'Asks the person for a colour.',
  input: z.object({ shades: z.number() }),
});
const ASK = { name: 'askColour', input: { shades: 3 } };
const PENDING = { id: 'call_1', ...ASK, reason: 'The caller runs "askColour".', needs: 'result' };

/** A chat whose model has called `askColour`, which the page runs. */
async function asked(options: Partial<AgentHandlerOptions> = {}) {
  const model = scriptedModel([calls(ASK), 'done']);
  const agent = new Agent({ model, tools: [askColour], store: new MemorySessionStore() });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, protocol: 'sse', ...options });
  const events = await readSSE(await post(handler, '', { id: 'chat', message: 'Ask me.' }));
  const decide = (decision: unknown) => post(handler, '/decide', { id: 'chat', decisions: { call_1: decision } });
  return { model, handler, events, decide };
}

test('a page that runs a tool reads in the stream and in the history what to run', async () => {
  const { handler, events } = await asked();

  expect(events.at(-1)?.data).toMatchObject({ type: 'run-end', result: { status: 'suspended', pending: [PENDING] } });
  expect((await loadHistory(handler)).pending).toEqual([PENDING]);
});

test.each([
  [{ result: { colour: 'red' } }, '{"colour":"red"}'],
  [{ result: 'No screen.', isError: true }, '!No screen.'],
  ['deny', '!The call was denied.'],
])('`POST …/decide` takes %j for a call that the page runs', async (decision, read) => {
  const { model, decide } = await asked();

  const events = await readSSE(await decide(decision));

  expect(events.at(-1)?.data).toMatchObject({ type: 'run-end', result: { status: 'completed', text: 'done' } });
  expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: read });
});

test('`POST …/decide` refuses an approval of a call that the page runs', async () => {
  const { model, decide } = await asked();

  const response = await decide('approve');

  expect([response.status, await response.json()]).toEqual([
    409,
    { error: { code: 'ERR_UI_CALL_UNKNOWN', message: expect.stringContaining("must be { result } or 'deny'") } },
  ]);
  expect(model.requests).toHaveLength(1);
});

test('a person who may not decide can give no result', async () => {
  const { handler, events, decide } = await asked({ mayDecide: () => false });

  expect((await decide({ result: 'red' })).status).toBe(403);
  expect(events.at(-1)?.data).toMatchObject({ result: { status: 'suspended', pending: [] } });
  expect((await loadHistory(handler)).pending).toEqual([{ id: 'call_1' }]);
});
