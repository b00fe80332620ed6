import { Agent, type AgentEvent, defineTool, type RunResult, type ToolResultPart, toolResult } from 'keelson';
import { type CompactionOptions, compaction } from 'keelson/lifecycles';
import { openai } from 'keelson/openai';
import { calls, fails, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { completionOf } from '../../support/providers/openai-reply.js';
import { type RequestBody, startOpenAIServer } from '../../support/providers/openai-server.js';

const WINDOW = 20_000;

const read = defineTool({
  name: 'read',
  description: 'Reads a page.',
  input: { type: 'object', properties: {} },
  execute: () => 'The sea is calm. '.repeat(120),
});

const isSummaryCall = ({ messages }: RequestBody) => String(messages[0]?.content).includes('summary');

/** A server with a context window of 20,000 tokens, whose model calls a tool in each of `turns` turns. */
function narrowServer(turns: number) {
  let turn = 0;
  return startOpenAIServer((body) => {
    const size = Math.ceil(JSON.stringify(body.messages).length / 4);
    if (size > WINDOW) {
      const message = `This model's maximum context length is ${WINDOW} tokens. However, your messages resulted in ${size} tokens.`;
      return {
        status: 400,
        json: { error: { message, type: 'invalid_request_error', code: 'context_length_exceeded' } },
      };
    }
    if (isSummaryCall(body)) return { json: completionOf({ text: 'The pages say that the sea is calm.' }) };
    turn += 1;
    const call = { id: `call_${turn}`, name: 'read', arguments: '{}' };
    return { json: completionOf(turn > turns ? { text: 'Calm.' } : { toolCalls: [call] }) };
  });
}

function agentFor(baseURL: string, options: CompactionOptions) {
  const model = openai('m', { baseURL, maxRetries: 0 });
  return new Agent({ model, tools: [read], maxTurns: 300, lifecycle: [compaction(options)] });
}

test('a conversation of 200 turns with large results ends well with a window of 20,000 tokens', {
  timeout: 60_000,
}, async () => {
  await using server = await narrowServer(200);
  const agent = agentFor(server.baseURL, { maxTokens: 1_000_000 });
  const events: AgentEvent['type'][] = [];
  agent.on('compaction-end', ({ type, messages }) => void (messages !== undefined && events.push(type)));

  const { text, messages, history, decisions } = await agent.run('Read all pages.');

  expect(text).toBe('Calm.');
  expect(messages).toHaveLength(402);
  expect(JSON.stringify(history).length / 4).toBeLessThan(WINDOW);
  expect(events.length).toBeGreaterThan(3);
  expect(decisions.filter(({ by, type }) => by === 'compaction' && type === 'modify').length).toBeGreaterThan(3);
});

test('a long conversation from elsewhere is summarised in pieces that fit', async () => {
  await using server = await narrowServer(0);
  const agent = agentFor(server.baseURL, { maxMessages: 10_000 });
  const messages = Array.from({ length: 200 }, (_, at) => ({
    role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: at % 2 === 0 ? 'And? '.repeat(200) : [{ type: 'text' as const, text: 'The sea is calm. '.repeat(200) }],
  }));

  const { text } = await agent.run('How is the sea?', { messages });

  expect(text).toBe('Calm.');
  expect(server.requests.filter(({ body }) => isSummaryCall(body)).length).toBeGreaterThan(2);
});

test('the call is made once more only', async () => {
  const overflow = fails({ message: 'too long', kind: 'context-overflow' });
  const turns = Array.from({ length: 12 }, (_, at) => calls('echo', { text: `${at} ${'x'.repeat(500)}` }));
  let turn = 0;
  const model = scriptedModel(({ messages }) =>
    String(messages[0]?.content).includes('summary') ? 'Summary.' : (turns[turn++] ?? overflow),
  );
  const agent = new Agent({ model, tools: [echo], maxTurns: 50, lifecycle: [compaction({ maxTokens: 1e6, keep: 4 })] });

  expect(await rejectionOf(agent.run('Count.'))).toMatchObject({ kind: 'context-overflow' });
  const asked = model.requests.filter(({ messages }) => !String(messages[0]?.content).includes('summary'));
  expect(asked).toHaveLength(12 + 2);
});

test('other failures are not answered', async () => {
  const model = scriptedModel([fails({ message: 'no', kind: 'invalid-request' }), 'Done.']);
  const agent = new Agent({ model, lifecycle: [compaction({ maxTokens: 1e6 })] });

  expect(await rejectionOf(agent.run('Hello'))).toMatchObject({ kind: 'invalid-request' });
  expect(model.requests).toHaveLength(1);
});

describe('a tool result that is larger than the context window', () => {
  const page = (chars: number) => `BEGIN ${'The sea is calm. '.repeat(chars / 17)} END`;
  const resultsOf = ({ messages }: RequestBody) =>
    messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));

  async function runWith(execute: () => unknown, options: CompactionOptions = { maxTokens: 1_000_000 }, turns = 2) {
    await using server = await narrowServer(turns);
    const model = openai('m', { baseURL: server.baseURL, maxRetries: 0 });
    const tool = toolOf('read', execute);
    const agent = new Agent({ model, tools: [tool], lifecycle: [compaction(options)], logger: keepingLogger() });
    const events: unknown[] = [];
    agent.on('compaction-start', ({ messages }) => void events.push(messages));
    agent.on('compaction-end', ({ messages }) => void events.push(messages));
    const outcome = await agent.run('Read the page.').catch((error: unknown) => error);
    return { outcome, events, bodies: server.requests.map(({ body }) => body) };
  }

  test.each([
    ['a little', WINDOW * 4.2],
    ['ten times', WINDOW * 40],
  ])('is shortened with a note if it is %s too long, and the run goes on', async (_case, chars) => {
    const { outcome, events, bodies } = await runWith(() => page(chars), undefined, 1);

    expect(outcome).toMatchObject({ text: 'Calm.', decisions: [{ by: 'compaction', point: 'wrapModelCall' }] });
    expect(events).toEqual([3, 3]);
    const [refused, sent] = [bodies[1], bodies[2]].map((body) => resultsOf(body as RequestBody)[0] ?? '');
    expect(refused).toHaveLength(page(chars).length);
    expect(sent).toMatch(/^BEGIN.+\n\[… \d+ characters left out …\]\n.+END$/);
    expect(sent?.length).toBeGreaterThan(WINDOW * 4 * 0.6);
  });

  test('stays short for the rest of the run, and is whole in the messages of the result', async () => {
    const pages = [page(WINDOW * 8), 'Calm.'];
    const { outcome, events, bodies } = await runWith(() => pages.shift());

    const { messages, history } = outcome as RunResult;
    expect(events).toEqual([3, 3]);
    expect(bodies).toHaveLength(4);
    expect(JSON.stringify(messages).length).toBeGreaterThan(WINDOW * 8);
    expect(JSON.stringify(history).length).toBeLessThan(WINDOW * 4);
  });

  test('is shortened beside other results of the turn, which stay whole', async () => {
    const model = scriptedModel([
      calls({ id: 'a', name: 'read', input: {} }, { id: 'b', name: 'echo', input: { text: 'b'.repeat(300) } }),
      () => fails({ message: 'maximum 2000 tokens, got 20000 tokens', kind: 'context-overflow' }),
      'Calm.',
    ]);
    const long = toolOf('read', () => page(80_000));
    const agent = new Agent({ model, tools: [long, echo], lifecycle: [compaction({ maxMessages: 100 })] });

    expect((await agent.run('Read.')).text).toBe('Calm.');

    const { a, b } = resultsIn(model.requests[2]?.messages ?? []);
    expect(b).toBe('b'.repeat(300));
    expect(String(a).length).toBeLessThan(8_000);
    expect(String(a).length).toBeGreaterThan(5_000);
  });

  test('fits by `maxTokens` if the error names no numbers', async () => {
    const model = scriptedModel([
      calls('read', {}),
      () => fails({ message: 'Input is too long for requested model.', kind: 'context-overflow' }),
      'Calm.',
    ]);
    const long = toolOf('read', () => page(400_000));
    const agent = new Agent({ model, tools: [long], lifecycle: [compaction({ maxTokens: 1_000 })] });

    await agent.run('Read.');

    expect(JSON.stringify(model.requests[2]?.messages).length).toBeLessThan(4_200);
  });

  test('is shortened after a summary of the older messages', async () => {
    const pages = Array.from({ length: 16 }, (_, at) => page(at === 14 ? WINDOW * 8 : 4_000));
    const { outcome, bodies } = await runWith(() => pages.shift(), undefined, 16);

    expect(outcome).toMatchObject({ text: 'Calm.' });
    expect(bodies.filter(isSummaryCall).length).toBeGreaterThan(0);
  });

  test('stays with text parts and images, and keeps the images', async () => {
    const image = { type: 'image', image: 'AAAA', mediaType: 'image/png' } as const;
    const model = scriptedModel([
      calls('read', {}),
      () => fails({ message: 'maximum 3000 tokens, got 20000 tokens', kind: 'context-overflow' }),
      'Calm.',
    ]);
    const execute = () => toolResult({ content: [{ type: 'text', text: page(80_000) }, image] });
    const long = toolOf('read', execute);
    const agent = new Agent({ model, tools: [long], lifecycle: [compaction({ maxMessages: 100 })] });

    await agent.run('Read.');

    const { content } = (model.requests[2]?.messages.at(-1)?.content[0] ?? {}) as ToolResultPart;
    expect(content).toMatchObject([{ text: expect.stringContaining('characters left out') }, image]);
  });

  test('is not the reason: a long user message stays, and the run fails with the error of the service', async () => {
    await using server = await narrowServer(0);
    const agent = agentFor(server.baseURL, { maxTokens: 1_000_000 });

    const error = await rejectionOf(agent.run('Please. '.repeat(WINDOW)));

    expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED', kind: 'context-overflow' });
    expect(server.requests).toHaveLength(1);
  });
});
