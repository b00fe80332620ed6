import { expect, test } from 'vitest';
import { Agent, type AgentEvent, defineTool, ModelError } from '../../../src/index.js';
import { fittingShare } from '../../../src/lifecycles/compaction/overflow.js';
import { type CompactionOptions, compaction } from '../../../src/lifecycles/lifecycles.js';
import { openai } from '../../../src/providers/openai/openai.js';
import { calls, fails, scriptedModel } from '../../../src/testing/testing.js';
import { echo } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
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

test('a conversation of 200 turns with large results ends well with a window of 20,000 tokens', async () => {
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

test.each([
  ['400 The input token count (1200000) exceeds the maximum number of tokens allowed (600000).', 0.5],
  ["This model's maximum context length is 8,000 tokens. However, you requested 10,000 tokens.", 0.8],
  ['prompt is too long: 250000 tokens > 200000 maximum', 0.8],
  ['400 Input is too long for requested model.', 0.5],
  ['413 gpt-4o-20240806 refuses 9000 tokens', 0.5],
])('the share that fits is read from the error: %s', (message, share) => {
  expect(fittingShare(new ModelError('m', new Error(message)))).toBeCloseTo(share);
});
