import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai-6';
import { Agent, type AgentLifecycle, HookAction } from 'keelson';
import { approval, retryModelCalls } from 'keelson/lifecycles';
import { calls, fails, says, scriptedModel, streams } from 'keelson/testing';
import { type AgentHandler, createAgentHandler } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, until } from '../../support/agent/settle.js';
import { loadHistory, PlainState, post } from '../../support/ui/chat-client.js';
import { drawnRuns, helperOf, prompt } from '../../support/ui/nested-agents.js';
import { shownText } from '../../support/ui/read-ui-message.js';

/** Sends a message to a handler, and returns the parts of the message that version 6 of `ai` builds of the answer. */
async function partsOf(options: Partial<ConstructorParameters<typeof Agent>[0]>) {
  const agent = new Agent({ model: scriptedModel([]), ...options });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, protocol: 'ai-sdk-6' });
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
  const response = await handler(
    new Request('http://localhost/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'c', messages: [message] }),
    }),
  );
  const chunks = parseJsonEventStream({
    stream: response.body ?? expect.fail(),
    schema: uiMessageChunkSchema,
  }).pipeThrough(
    new TransformStream<{ success: boolean; value?: UIMessageChunk; error?: unknown }, UIMessageChunk>({
      transform: ({ value, error }, controller) => (value ? controller.enqueue(value) : controller.error(error)),
    }),
  );
  let parts: readonly unknown[] = [];
  for await (const state of readUIMessageStream({ stream: chunks, terminateOnError: true })) parts = state.parts;
  return parts as readonly Record<string, unknown>[];
}

const texts = (parts: readonly Record<string, unknown>[]) =>
  parts.flatMap(({ type, text }) => (type === 'text' ? [text] : []));
const pay = toolOf('pay', () => 'paid');

describe('a page with version 6 of `ai` shows', () => {
  test('only the last text of a model call that was retried', async () => {
    const model = scriptedModel([streams(['Half an ans'], fails({ status: 503 })), 'A whole answer.']);

    expect(texts(await partsOf({ model, lifecycle: [retryModelCalls({ initialDelayMs: 0 })] }))).toEqual([
      'A whole answer.',
    ]);
  });

  test('the text that a lifecycle has put in place of a streamed one', async () => {
    const censor: AgentLifecycle = {
      afterModel: (response) => HookAction.modify({ ...response, content: [{ type: 'text', text: 'Censored.' }] }),
    };

    expect(texts(await partsOf({ model: scriptedModel([streams(['The ', 'secret.'])]), lifecycle: [censor] }))).toEqual(
      ['Censored.'],
    );
  });

  test('the text before tool calls, the calls with their results, and the answer', async () => {
    const model = scriptedModel([says('Paying.', { calls: [{ name: 'pay', input: {} }] }), 'Paid.']);
    const parts = await partsOf({ model, tools: [pay] });

    expect(texts(parts)).toEqual(['Paying.', 'Paid.']);
    expect(parts.find(({ type }) => type === 'tool-pay')).toMatchObject({ state: 'output-available', output: 'paid' });
  });

  test('the run inside of a tool call', async () => {
    const tools = [helperOf('helper', [streams(['Cle', 'ar.'])])];
    const parts = await partsOf({ model: scriptedModel([calls('helper', prompt), 'Done.']), tools });

    expect(drawnRuns(parts as never)).toEqual(['call_1 helper completed', '  1: Clear.']);
    expect(texts(parts)).toEqual(['Done.']);
  });

  test('a request for approval', async () => {
    const parts = await partsOf({
      model: scriptedModel([calls('pay', {})]),
      tools: [pay],
      lifecycle: [approval({ tools: ['pay'] })],
    });

    expect(parts.find(({ type }) => type === 'tool-pay')).toMatchObject({ state: 'approval-requested' });
  });
});

/** The chat of `useChat` of version 6, which has loaded the history of a handler. */
class ReloadedChat extends AbstractChat<UIMessage> {
  constructor(handler: AgentHandler, messages: readonly unknown[]) {
    const state = new PlainState() as unknown as ChatState<UIMessage>;
    state.messages = messages as UIMessage[];
    const transport = new DefaultChatTransport({
      api: 'http://localhost/api/chat',
      fetch: (url, init) => handler(new Request(url, init)),
    });
    super({ id: 'chat', state, transport });
  }
}

test('a page with version 6 that comes back while an approved call runs shows the answer from its beginning', async () => {
  const held = gate();
  const agent = new Agent({
    model: scriptedModel([says('I will pay.', { calls: [{ name: 'pay', input: {} }] }), 'Paid.']),
    tools: [toolOf('pay', () => held.pass().then(() => 'paid'))],
    lifecycle: [approval({ tools: ['pay'] })],
  });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, protocol: 'ai-sdk-6' });
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Pay.' }] };
  await (await post(handler, '', { id: 'chat', messages: [message] })).text();
  void post(handler, '/decide', { id: 'chat', decisions: { call_1: 'approve' } });
  await until(() => held.arrived === 1);

  const back = new ReloadedChat(handler, (await loadHistory(handler)).messages);
  const resuming = back.resumeStream();
  await until(() => back.status === 'streaming');
  held.open();
  await resuming;

  const { messages } = await loadHistory(handler);
  expect(back.messages).toMatchObject(messages);
  expect(back.messages.map((shown) => shownText(shown as never))).toEqual(['Pay.', 'I will pay.Paid.']);
});
