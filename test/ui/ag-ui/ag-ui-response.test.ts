import { setImmediate } from 'node:timers/promises';
import { Agent, type AgentLifecycle, defineTool, HookAction, type Model } from 'keelson';
import { approval, retryModelCalls } from 'keelson/lifecycles';
import { calls, fails, hangs, type ScriptEntry, scriptedModel, streams } from 'keelson/testing';
import { agUIResponse, fromAgUIInput, toAgUIMessages, toAgUIStream } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { agUIClient, readAgUIEvents } from '../../support/ui/ag-ui-client.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }, { progress }) => {
    progress({ step: 1 });
    await setImmediate();
    return { sum: a + b };
  },
});

function agentOf(script: readonly ScriptEntry[], options: Partial<ConstructorParameters<typeof Agent>[0]> = {}) {
  return new Agent({ model: scriptedModel(script), tools: [add], ...options });
}

const options = { threadId: 't1', runId: 'r1' };
const overloaded = () => fails(Object.assign(new TypeError('overloaded'), { status: 529, retryAfterMs: 1 }));

test('streams a text answer in the events of AG-UI', async () => {
  const stream = agentOf([streams(['Hel', 'lo.'])]).stream('Hi');
  const response = agUIResponse(stream, options);
  await stream.result;

  const events = await readAgUIEvents(response);

  const id = expect.stringMatching(/^run_[0-9a-f]{32}\.t1$/);
  expect(events).toEqual([
    { type: 'RUN_STARTED', threadId: 't1', runId: 'r1' },
    { type: 'STEP_STARTED', stepName: id },
    { type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: 'Hello.' },
    { type: 'TEXT_MESSAGE_END', messageId: id },
    { type: 'STEP_FINISHED', stepName: id },
    {
      type: 'RUN_FINISHED',
      threadId: 't1',
      runId: 'r1',
      outcome: { type: 'success' },
      usage: [expect.objectContaining({ totalTokens: 15 })],
    },
  ]);
});

test('gives the client of AG-UI a tool call, its progress and its result', async () => {
  const agent = agentOf([calls('add', { a: 1, b: 2 }), '3']);
  const { run } = agUIClient(() => agUIResponse(agent.stream('1 + 2?'), options));

  const { messages, events } = await run();

  expect(messages).toMatchObject([
    { role: 'assistant', toolCalls: [{ id: 'call_1', function: { name: 'add', arguments: '{"a":1,"b":2}' } }] },
    { role: 'tool', toolCallId: 'call_1', content: '{"sum":3}' },
    { role: 'assistant', content: '3' },
  ]);
  expect(events).toContainEqual(expect.objectContaining({ type: 'CUSTOM', name: 'keelson.progress' }));
});

test('names the messages of a failed model call, and sends a snapshot at the end', async () => {
  const agent = agentOf([streams(['Hel'], overloaded()), 'Bye.'], { lifecycle: [retryModelCalls()] });
  const { run } = agUIClient(() => agUIResponse(agent.stream('Hi'), options));

  const { messages, events } = await run();

  expect(events).toContainEqual(expect.objectContaining({ type: 'CUSTOM', name: 'keelson.replaced' }));
  expect(messages).toMatchObject([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Bye.' },
  ]);
});

test('ends with interrupts if tool calls wait for decisions, and continues after the decisions', async () => {
  const agent = agentOf([calls('add', { a: 1, b: 2 }), '3'], { lifecycle: [approval({ tools: ['add'] })] });
  await using session = await agent.session({ id: 's' });
  const { client, run } = agUIClient(async (request) => {
    const body = fromAgUIInput(await request.json());
    const stream =
      body.type === 'message' ? session.stream(body.message) : session.stream('', { resume: resumeOf(body) });
    return agUIResponse(stream, { threadId: body.chatId, runId: body.runId });
  });
  client.addMessage({ id: 'u1', role: 'user', content: '1 + 2?' });

  const asked = await run();

  expect(asked.events.at(-1)).toMatchObject({
    outcome: { type: 'interrupt', interrupts: [{ id: 'call_1', toolCallId: 'call_1', reason: 'tool_call' }] },
  });
  const { messages } = await run({
    resume: [{ interruptId: 'call_1', status: 'resolved', payload: { approved: true } }],
  });
  expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: '3' });
});

test('streams an approved answer under the id that it has in the history', async () => {
  const askOnce: AgentLifecycle = {
    afterModel: (_response, { turn }) => (turn === 1 ? HookAction.suspend('Read it.') : undefined),
  };
  const agent = agentOf(['Hello.'], { lifecycle: [askOnce] });
  await using session = await agent.session({ id: 's' });
  await session.run('Hi');
  const { run } = agUIClient(() => agUIResponse(session.stream('', { resume: { answer: 'approve' } }), options));

  const { messages } = await run();

  expect(messages.map(({ id }) => id)).toEqual([toAgUIMessages(session.entries).at(-1)?.id]);
});

test('keeps the order of the messages if a model call is repeated before it has streamed text', async () => {
  const model: Model = {
    id: 'thinks, fails, calls a tool, and answers',
    async generate({ messages, onPart }) {
      const turn = attempts === 0 ? 'thinks' : messages.at(-1)?.role;
      attempts += 1;
      if (turn === 'thinks') {
        onPart?.({ type: 'reasoning-delta', text: 'Hm.' });
        throw Object.assign(new TypeError('overloaded'), { status: 529, retryAfterMs: 1 });
      }
      const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
      if (turn === 'tool') return { content: [{ type: 'text', text: '3' }], finishReason: 'stop', usage };
      const text = { type: 'text', text: 'I add.' } as const;
      const call = { type: 'tool-call', id: 'c1', name: 'add', input: { a: 1, b: 2 } } as const;
      return { content: [text, call], finishReason: 'tool-calls', usage };
    },
  };
  let attempts = 0;
  const agent = agentOf([], { model, lifecycle: [retryModelCalls()] });
  await using session = await agent.session({ id: 's' });
  const streamed = { ...options, entries: () => session.entries };
  const { client, run } = agUIClient(() => agUIResponse(session.stream('1 + 2?'), streamed));
  client.addMessage({ id: 'u1', role: 'user', content: '1 + 2?' });

  const { messages } = await run();

  expect(messages.map(({ role }) => role).filter((role) => role !== 'reasoning' && role !== 'user')).toEqual([
    ...['assistant', 'tool', 'assistant'],
  ]);
});

function resumeOf(body: ReturnType<typeof fromAgUIInput>) {
  return body.type === 'decisions' ? body.decisions : {};
}

test('ends with the outcome "cancelled" if the run is aborted, and keeps the shown text', async () => {
  const abort = new AbortController();
  const agent = agentOf([streams(['Hel'], hangs())]);
  agent.on('text-delta', () => abort.abort());
  const { run } = agUIClient(() => agUIResponse(agent.stream('Hi', { signal: abort.signal }), options));

  const { messages, events } = await run();

  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  expect(messages).toMatchObject([{ content: 'Hel' }]);
});

test('hides the message of a failed run, and shows its code', async () => {
  const events = await readAgUIEvents(agUIResponse(agentOf([fails('the key sk-123')]).stream('Hi'), options));

  expect(events.at(-1)).toEqual({
    type: 'RUN_ERROR',
    message: 'The run failed (ERR_MODEL_FAILED).',
    code: 'ERR_MODEL_FAILED',
  });
});

test('shows the failure of a run that could not start', async () => {
  const agent = agentOf(['Hello.']);
  await agent.close();

  expect(await readAgUIEvents(agUIResponse(agent.stream('Hi'), options))).toEqual([
    { type: 'RUN_STARTED', threadId: 't1', runId: 'r1' },
    { type: 'RUN_ERROR', message: 'The run failed (ERR_AGENT_CLOSED).', code: 'ERR_AGENT_CLOSED' },
  ]);
});

test('joins the deltas that wait for a slow reader', async () => {
  const stream = agentOf([streams(Array.from({ length: 1000 }, () => 'ab'))]).stream('Hi');
  const response = agUIResponse(stream, options);
  await stream.result;

  const deltas = (await readAgUIEvents(response)).filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT');

  expect(deltas).toMatchObject([{ delta: 'ab'.repeat(1000) }]);
});

test('aborts the run if the reader cancels the stream', async () => {
  const stream = agentOf([streams(['Hel'], hangs())]).stream('Hi');
  const reader = toAgUIStream(stream, options).getReader();
  await reader.read();

  await reader.cancel();

  await expect(stream.result).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
});

test('refuses options without a thread id', () => {
  const stream = agentOf(['Hello.']).stream('Hi');

  expect(() => agUIResponse(stream, {} as never)).toThrow(/threadId/);
});
