import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Agent, defineTool } from 'keelson';
import { approval, retryModelCalls } from 'keelson/lifecycles';
import { calls, fails, hangs, type ScriptEntry, scriptedModel, streams } from 'keelson/testing';
import { pipeUIMessages, toUIMessageStream, uiMessageResponse } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { bodyOf, readChunks, readMessage, shownText } from '../../support/ui/read-ui-message.js';

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
const broken = defineTool({
  name: 'broken',
  description: 'Fails.',
  input: z.object({}),
  execute: () => {
    throw new TypeError('cannot read /srv/secrets');
  },
});

function agentOf(script: readonly ScriptEntry[], options: Partial<ConstructorParameters<typeof Agent>[0]> = {}) {
  return new Agent({ model: scriptedModel(script), tools: [add, broken], ...options });
}

const overloaded = () => fails(Object.assign(new TypeError('overloaded'), { status: 529, retryAfterMs: 1 }));

test('streams a text answer in the chunks of the protocol', async () => {
  const stream = agentOf([streams(['Hel', 'lo.'])]).stream('Hi');
  const response = uiMessageResponse(stream, { messageId: 'm1' });
  await stream.result;

  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
  expect(await readChunks(response)).toEqual([
    { type: 'start', messageId: 'm1', messageMetadata: { pending: [] } },
    { type: 'start-step' },
    { type: 'text-start', id: '1.0.0' },
    { type: 'text-delta', id: '1.0.0', delta: 'Hello.' },
    { type: 'text-end', id: '1.0.0' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'stop', messageMetadata: { usage: expect.objectContaining({ totalTokens: 15 }) } },
  ]);
});

test('ends the response with the DONE event', async () => {
  const text = await uiMessageResponse(agentOf(['Hello.']).stream('Hi'), { headers: { 'x-own': '1' } }).text();

  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
});

test('adds the headers of the options to the response', () => {
  const response = uiMessageResponse(agentOf(['Hello.']).stream('Hi'), { headers: { 'x-own': '1' } });

  expect(response.headers.get('x-own')).toBe('1');
});

test('refuses an unknown option', () => {
  const stream = agentOf(['Hello.']).stream('Hi');

  expect(() => uiMessageResponse(stream, { header: {} } as never)).toThrow(/header/);
});

test('takes back the text of a failed model call with reset-step', async () => {
  const agent = agentOf([streams(['Hel'], overloaded()), 'Bye.'], { lifecycle: [retryModelCalls()] });

  const chunks = await readChunks(uiMessageResponse(agent.stream('Hi')));

  expect(chunks.map(({ type }) => type)).toContain('reset-step');
  expect(shownText(await readMessage(chunks))).toBe('Bye.');
});

test('shows a tool call with its progress and its output', async () => {
  const chunks = await readChunks(uiMessageResponse(agentOf([calls('add', { a: 1, b: 2 }), '3']).stream('1 + 2?')));

  expect(chunks.filter(({ type }) => type.startsWith('tool-'))).toEqual([
    { type: 'tool-input-available', toolCallId: 'call_1', toolName: 'add', input: { a: 1, b: 2 } },
    { type: 'tool-output-available', toolCallId: 'call_1', output: { step: 1 }, preliminary: true },
    { type: 'tool-output-available', toolCallId: 'call_1', output: { sum: 3 } },
  ]);
  const { parts } = await readMessage(chunks);
  expect(parts.find(({ type }) => type === 'tool-add')).toMatchObject({
    state: 'output-available',
    output: { sum: 3 },
  });
});

test('shows tool arguments while the model writes them', async () => {
  const delta = (text: string) => ({ type: 'tool-input-delta', id: 'call_1', name: 'add', text }) as const;
  const call = calls({ id: 'call_1', name: 'add', input: { a: 1, b: 2 } });
  const agent = agentOf([streams([delta('{"a":1,'), delta('"b":2}')], call), '3']);

  const chunks = await readChunks(uiMessageResponse(agent.stream('1 + 2?')));

  expect(chunks.map(({ type }) => type).slice(0, 5)).toEqual([
    'start',
    'start-step',
    'tool-input-start',
    'tool-input-delta',
    'tool-input-available',
  ]);
  expect(await readMessage(chunks)).toBeDefined();
});

test('hides the message of a failed tool call', async () => {
  const chunks = await readChunks(uiMessageResponse(agentOf([calls('broken'), 'Sorry.']).stream('Go')));

  expect(chunks).toContainEqual({ type: 'tool-output-error', toolCallId: 'call_1', errorText: 'The tool failed.' });
  expect(JSON.stringify(chunks)).not.toContain('secrets');
});

test('hides the message of a failed run, and shows its code', async () => {
  const agent = agentOf([fails('the key sk-123 is invalid')]);

  const chunks = await readChunks(uiMessageResponse(agent.stream('Hi')));

  expect(chunks.at(-1)).toEqual({ type: 'error', errorText: 'The run failed (ERR_MODEL_FAILED).' });
});

test('shows the texts of `errorText` and `toolErrorText`', async () => {
  const agent = agentOf([calls('broken'), fails('no')]);
  const options = { errorText: () => 'Try later.', toolErrorText: ({ name }: { name: string }) => `No ${name}.` };

  const chunks = await readChunks(uiMessageResponse(agent.stream('Hi'), options));

  expect(chunks).toContainEqual({ type: 'tool-output-error', toolCallId: 'call_1', errorText: 'No broken.' });
  expect(chunks.at(-1)).toEqual({ type: 'error', errorText: 'Try later.' });
});

test('shows the default text if `errorText` throws', async () => {
  const errorText = () => expect.fail('broken');

  const chunks = await readChunks(uiMessageResponse(agentOf([fails('no')]).stream('Hi'), { errorText }));

  expect(chunks.at(-1)).toEqual({ type: 'error', errorText: 'The run failed (ERR_MODEL_FAILED).' });
});

test('asks for approval, and continues the same message after the decision', async () => {
  const agent = agentOf([calls('add', { a: 1, b: 2 }), '3'], { lifecycle: [approval({ tools: ['add'] })] });
  await using session = await agent.session({ id: 's' });
  const asked = await readChunks(uiMessageResponse(session.stream('1 + 2?'), { messageId: 'm1' }));
  const first = await readMessage(asked);

  expect(first.parts).toContainEqual(
    expect.objectContaining({ state: 'approval-requested', approval: expect.objectContaining({ id: 'call_1' }) }),
  );
  const resumed = session.stream('', { resume: { call_1: 'approve' } });
  const chunks = await readChunks(uiMessageResponse(resumed, { messageId: 'm1' }));

  const { id, parts, metadata } = await readMessage(chunks, first);
  expect(id).toBe('m1');
  expect([first.metadata, metadata]).toMatchObject([{ pending: ['call_1'] }, { pending: [] }]);
  expect(parts.find(({ type }) => type === 'tool-add')).toMatchObject({
    state: 'output-available',
    output: { sum: 3 },
  });
  expect(parts.at(-1)).toMatchObject({ type: 'text', text: '3' });
});

test('shows a denied call of a resumed run', async () => {
  const agent = agentOf([calls('add', { a: 1, b: 2 }), 'As you wish.'], { lifecycle: [approval({ tools: ['add'] })] });
  await using session = await agent.session({ id: 's' });
  const first = await readMessage(await readChunks(uiMessageResponse(session.stream('1 + 2?'))));

  const resumed = session.stream('', { resume: { call_1: 'deny' } });
  const chunks = await readChunks(uiMessageResponse(resumed, { messageId: first.id }));

  const { parts } = await readMessage(chunks, first);
  expect(parts.find(({ type }) => type === 'tool-add')).toMatchObject({ state: 'output-denied' });
});

test('ends with an abort chunk if the run is aborted, and marks the message as stopped', async () => {
  const abort = new AbortController();
  const agent = agentOf([streams(['Hel'], hangs())]);
  agent.on('text-delta', () => abort.abort());

  const chunks = await readChunks(uiMessageResponse(agent.stream('Hi', { signal: abort.signal })));

  expect(chunks.slice(-2)).toEqual([
    { type: 'message-metadata', messageMetadata: { stopped: true } },
    { type: 'abort' },
  ]);
  expect(shownText(await readMessage(chunks))).toBe('Hel');
});

test('shows the failure of a run that could not start', async () => {
  const agent = agentOf(['Hello.']);
  await agent.close();

  expect(await readChunks(uiMessageResponse(agent.stream('Hi')))).toEqual([
    { type: 'start' },
    { type: 'error', errorText: 'The run failed (ERR_AGENT_CLOSED).' },
  ]);
});

test('keeps the calls that wait on the page if the run that decides on them could not start', async () => {
  const agent = agentOf(['Hello.']);
  await agent.close();

  const [start] = await readChunks(uiMessageResponse(agent.stream('Hi'), { messageId: 'm1' }));

  expect(start).toEqual({ type: 'start', messageId: 'm1' });
});

test('aborts the run if the reader cancels the stream', async () => {
  const stream = agentOf([streams(['Hel'], hangs())]).stream('Hi');
  const reader = toUIMessageStream(stream).getReader();
  await reader.read();

  await reader.cancel();

  await expect(stream.result).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
});

test('joins the deltas that wait for a slow reader', async () => {
  const stream = agentOf([streams(Array.from({ length: 1000 }, () => 'ab'))]).stream('Hi');
  const response = uiMessageResponse(stream);
  await stream.result;

  const deltas = (await readChunks(response)).filter(({ type }) => type === 'text-delta');

  expect(deltas).toHaveLength(1);
  expect(deltas[0]).toMatchObject({ delta: 'ab'.repeat(1000) });
});

test('says that progress cannot be shown if JSON cannot represent it', async () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const odd = defineTool({
    name: 'odd',
    description: 'Reports odd progress.',
    input: z.object({}),
    execute: async (_input, { progress }) => {
      progress(circular);
      await setImmediate();
      return 'done';
    },
  });

  const chunks = await readChunks(uiMessageResponse(agentOf([calls('odd'), 'Yes.'], { tools: [odd] }).stream('Go')));

  expect(chunks).toContainEqual(expect.objectContaining({ output: 'The data cannot be shown as JSON.' }));
});

test('shows the web pages that an answer cites', async () => {
  const cited = (url: string) => ({ type: 'url_citation', url_citation: { url, title: 'Harbour' } });
  const anthropic = { citations: [{ type: 'web_search_result_location', url: 'https://b.test/' }] };
  const response = {
    content: [{ type: 'text', text: 'Open.', providerMetadata: { anthropic } }],
    finishReason: 'stop',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    providerMetadata: {
      openai: { annotations: [cited('https://a.test/'), cited('https://a.test/'), cited('javascript:alert(1)')] },
      aiSdk: { sources: [{ type: 'source', sourceType: 'url', id: '1', url: 'https://c.test/', title: 'C' }] },
    },
  } as const;

  const chunks = await readChunks(uiMessageResponse(agentOf([() => response]).stream('Hi')));

  expect(chunks.filter(({ type }) => type === 'source-url')).toEqual([
    { type: 'source-url', sourceId: 'https://c.test/', url: 'https://c.test/', title: 'C' },
    { type: 'source-url', sourceId: 'https://a.test/', url: 'https://a.test/', title: 'Harbour' },
    { type: 'source-url', sourceId: 'https://b.test/', url: 'https://b.test/' },
  ]);
  expect(await readMessage(chunks)).toBeDefined();
});

test('shows an image of a tool as a data URL', async () => {
  const image = { type: 'image', image: new Uint8Array([1, 2, 3]), mediaType: 'image/png' } as const;
  const draw = defineTool({ name: 'draw', description: 'Draws.', input: z.object({}), execute: () => [image] });

  const chunks = await readChunks(uiMessageResponse(agentOf([calls('draw'), 'Yes.'], { tools: [draw] }).stream('Go')));

  const output = [{ type: 'file', url: 'data:image/png;base64,AQID', mediaType: 'image/png' }];
  expect(chunks).toContainEqual({ type: 'tool-output-available', toolCallId: 'call_1', output });
});

test('writes the stream to a response of node:http', async () => {
  const agent = agentOf(['Hello.']);
  const server = createServer((_request, response) => void pipeUIMessages(agent.stream('Hi'), response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);

  expect(shownText(await readMessage(await readChunks(response)))).toBe('Hello.');
  server.close();
});

test('aborts the run if a client of node:http disconnects', async () => {
  const agent = agentOf([streams(['Hel'], hangs())]);
  const ended = new Promise((resolve) => agent.on('run-error', ({ error }) => resolve(error)));
  const server = createServer((_request, response) => void pipeUIMessages(agent.stream('Hi'), response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const abort = new AbortController();
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { signal: abort.signal });
  await bodyOf(response).getReader().read();

  abort.abort();

  expect(await ended).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  server.close();
});
