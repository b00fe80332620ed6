import type { UIMessage } from 'ai';
import { Agent, defineTool, MemorySessionStore } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { createAgentHandler, type ProtocolName } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { resultsIn } from '../../support/agent/transcript.js';
import { agUIClient } from '../../support/ui/ag-ui-client.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { readSSE } from '../../support/ui/read-sse.js';
import { readChunks, readMessage } from '../../support/ui/read-ui-message.js';

const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount.',
  input: z.object({ euro: z.number() }),
  execute: ({ euro }) => `paid ${euro}`,
});
const askColour = defineTool({ name: 'askColour', description: 'Asks.', input: z.object({}) });
const CHANGED = { approve: { euro: 30 } };
const PAID = 'The person changed the arguments to {"euro":30}.\npaid 30';

/** A chat whose payments wait for approval. */
function arrange(protocol: ProtocolName, script: readonly ScriptEntry[] = [calls('pay', { euro: 40 }), 'done']) {
  const model = scriptedModel(script);
  const store = new MemorySessionStore();
  const agent = new Agent({ model, store, tools: [pay, askColour], lifecycle: [approval({ tools: ['pay'] })] });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, protocol });
  const decide = (decision: unknown) => post(handler, '/decide', { id: 'chat', decisions: { call_1: decision } });
  return { model, store, handler, decide };
}

describe('`POST …/decide`', () => {
  test('takes other arguments, and the stream and the history show those that ran', async () => {
    const { model, handler, decide } = arrange('sse');
    await readSSE(await post(handler, '', { id: 'chat', message: 'Pay.' }));

    const events = (await readSSE(await decide({ ...CHANGED, note: 'dropped' }))).map(({ data }) => data);

    expect(events).toContainEqual({ type: 'tool-start', turn: 0, callId: 'call_1', name: 'pay', input: { euro: 30 } });
    expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: PAID });
    const { messages } = await loadHistory(handler);
    expect(messages.at(-1)?.parts).toContainEqual({
      ...{ type: 'tool-pay', toolCallId: 'call_1', state: 'output-available', input: { euro: 30 }, output: PAID },
      callProviderMetadata: { keelson: { modelInput: { euro: 40 } } },
    });
  });

  test.each([
    [{ approve: { euro: 'all' } }, 400, 'ERR_UI_BODY_INVALID', /fit the schema of "pay": euro: /],
    [{ approve: { euro: 1 }, deny: 'no' }, 400, 'ERR_UI_BODY_INVALID', /\{ approve: input \}/],
  ])('refuses %j, and the call can be decided again', async (...[decision, status, code, message]) => {
    const { store, handler, decide } = arrange('sse');
    await readSSE(await post(handler, '', { id: 'chat', message: 'Pay.' }));
    const before = await store.load('chat');

    const response = await decide(decision);

    const error = { code, message: expect.stringMatching(message) };
    expect([response.status, await response.json()]).toEqual([status, { error }]);
    expect((await store.load('chat'))?.entries).toEqual(before?.entries);
    expect((await readSSE(await decide(CHANGED))).at(-1)?.data).toMatchObject({ result: { status: 'completed' } });
  });

  test('refuses other arguments for a call that the page runs', async () => {
    const { handler, decide } = arrange('sse', [calls('askColour'), 'done']);
    await readSSE(await post(handler, '', { id: 'chat', message: 'Ask me.' }));

    const response = await decide(CHANGED);

    expect(response.status).toBe(409);
    expect(await response.text()).toContain('got { approve }: its tool has no `execute`');
  });

  test.each(['ai-sdk', 'ai-sdk-6'] as const)('continues the message of a page with %s', async (protocol) => {
    const { handler, decide } = arrange(protocol);
    const page = new ChatClient(handler, 'chat');
    await page.sendMessage({ text: 'Pay.' });

    const chunks = await readChunks(await decide(CHANGED));

    const message = await readMessage(chunks, page.lastMessage as UIMessage);
    const stored = (await loadHistory(handler)).messages.at(-1);
    const callIn = (shown: UIMessage | undefined) => shown?.parts.find(({ type }) => type === 'tool-pay');
    expect(callIn(message)).toMatchObject({ input: { euro: 30 }, output: PAID });
    expect(callIn(message)).toMatchObject({ callProviderMetadata: { keelson: { modelInput: { euro: 40 } } } });
    expect(callIn(message)).toMatchObject(callIn(stored) ?? {});
    expect(message.id).toBe(stored?.id);
  });
});

test('the payload of an AG-UI page may have other arguments', async () => {
  const { model, handler } = arrange('ag-ui');
  const { client, run } = agUIClient(handler, [{ id: 'u1', role: 'user', content: 'Pay.' }]);
  await run();
  const payload = { approved: true, input: { euro: 30 } };

  await run({ resume: [{ interruptId: 'call_1', status: 'resolved', payload }] });

  expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: PAID });
  const shown = client.messages.find(({ role, ...message }) => role === 'assistant' && 'toolCalls' in message);
  expect(shown).toMatchObject({ toolCalls: [{ function: { name: 'pay', arguments: '{"euro":30}' } }] });
  expect((await loadHistory(handler, 't1')).messages).toEqual(client.messages);
});
