import { textOf } from 'keelson';
import { openai } from 'keelson/openai';
import { describe, expect, test } from 'vitest';
import type { ModelPart } from '../../../../src/model/model.js';
import { hello } from '../../../support/providers/openai-exchange.js';
import { startOpenAIServer } from '../../../support/providers/openai-server.js';
import { message, type ResponseItem, responseOf } from '../../../support/providers/responses-reply.js';

const said = (id: string, text: string, more: object = {}): ResponseItem => ({ ...message(text), id, ...more });

/** Asks for a response with these items, and sends it back. */
async function ask(items: readonly ResponseItem[], streams = false) {
  await using server = await startOpenAIServer(({ stream }) => responseOf(items, { stream: stream === true }));
  const model = openai('gpt-5', {
    baseURL: server.baseURL,
    api: 'responses',
    tools: [{ type: 'x_search' }],
    maxRetries: 0,
  });
  const shown: string[] = [];
  const onPart = (part: ModelPart) => void (part.type === 'text-delta' && shown.push(part.text));
  const { content, finishReason } = await model.generate({ ...hello, ...(streams && { onPart }) });
  await model.generate({ ...hello, messages: [...hello.messages, { role: 'assistant', content }] });
  return { content, finishReason, shown: shown.join(''), sent: server.requests[1]?.body.input as readonly object[] };
}

describe('two messages of one response', () => {
  test.each([true, false])('are two paragraphs, and go back as they were (streamed: %s)', async (streams) => {
    const { content, shown, sent } = await ask([said('m1', 'First.'), said('m2', 'Second.')], streams);

    expect(textOf({ role: 'assistant', content })).toBe('First.\n\nSecond.');
    if (streams) expect(shown).toBe('First.\n\nSecond.');
    expect(sent.slice(-2)).toEqual([
      { role: 'assistant', content: 'First.' },
      { role: 'assistant', content: 'Second.' },
    ]);
  });

  test('are not separated if only one of them is the answer', async () => {
    const { content } = await ask([said('m1', 'I look.', { phase: 'commentary' }), said('m2', 'Red.')]);

    expect(textOf({ role: 'assistant', content })).toBe('Red.');
  });
});

describe('a search of xAI', () => {
  const step = {
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'xs_1',
    name: 'x_keyword_search',
    input: '{"query":"a"}',
  };

  test('is run by xAI, and the agent does not run it again', async () => {
    const { content, finishReason, sent } = await ask([step, said('m1', 'Found.')]);

    expect(content).toMatchObject([
      { type: 'tool-call', name: 'x_keyword_search', input: { query: 'a' }, providerExecuted: true },
      { type: 'text', text: 'Found.' },
    ]);
    expect(finishReason).toBe('stop');
    expect(sent.at(-1)).toEqual({ role: 'assistant', content: 'Found.' });
  });

  test('is not any other custom call', async () => {
    const { content } = await ask([{ ...step, name: 'sql' }]);

    expect(content).toMatchObject([{ type: 'tool-call', name: 'sql' }]);
    expect(content[0]).not.toHaveProperty('providerExecuted');
  });
});
