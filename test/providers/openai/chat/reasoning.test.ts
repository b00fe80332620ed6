import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Agent, defineTool, HookAction, type Message } from 'keelson';
import { openai } from 'keelson/openai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ReasoningPart } from '../../../../src/model/message.js';
import { readCompletion } from '../../../../src/providers/openai/chat/response.js';
import { StreamedAnswer } from '../../../../src/providers/openai/chat/stream.js';
import { exchange, streamedExchange } from '../../../support/providers/openai-exchange.js';
import { chunk, replyWith } from '../../../support/providers/openai-reply.js';
import { type RequestBody, startOpenAIServer } from '../../../support/providers/openai-server.js';

const end = (reason = 'stop') => chunk({}, reason);
const thought = (thinking: string, signature: string | null = null) => ({ type: 'thinking', thinking, signature });
const thinks = (text: string, ...thinking_blocks: object[]) => chunk({ reasoning_content: text, thinking_blocks });

/** Reads a message received whole and the same message in deltas, and returns the reasoning part. */
async function bothWays(message: object, ...deltas: readonly object[]) {
  const json = { choices: [{ message: { ...message, content: 'Hi' }, finish_reason: 'stop' }] };
  const whole = await exchange({ json });
  const streamed = await streamedExchange({ chunks: [...deltas, chunk({ content: 'Hi' }), end()] });
  const parts = [whole, streamed].map(({ response }) => response?.content[0] as ReasoningPart);
  const shown = streamed.parts.flatMap(({ type, text }) => (type === 'reasoning-delta' ? [text] : []));
  return { parts, shown };
}

describe('reasoning in blocks', () => {
  test('is read if no other field contains the text', async () => {
    const detail = (text: string) => ({ type: 'reasoning.text', id: 'reasoning-text-1', index: 0, text });

    const { parts, shown } = await bothWays(
      { reasoning_details: [detail('Look first.')] },
      chunk({ role: '', reasoning_details: [detail('Look ')] }),
      chunk({ reasoning_details: [detail('first.')] }),
    );

    expect(parts.map(({ text }) => text)).toEqual(['Look first.', 'Look first.']);
    expect(shown).toEqual(['Look ', 'first.']);
    expect(parts[1]?.providerMetadata).toEqual(parts[0]?.providerMetadata);
  });

  test('of a gateway is kept with its signatures and its text', async () => {
    const hidden = { type: 'redacted_thinking', data: 'Eo8' };

    const { parts, shown } = await bothWays(
      {
        reasoning_content: 'One.Two.',
        thinking_blocks: [thought('One.', 'aa'), thought('Two.', 'bb'), hidden, hidden],
      },
      thinks('O', thought('O')),
      thinks('ne.', thought('ne.')),
      thinks('', thought('', 'aa')),
      thinks('Two.', thought('Two.')),
      thinks('', thought('', 'bb')),
      thinks('', hidden, hidden),
    );

    const fields = { thinking_blocks: [thought('One.', 'aa'), thought('Two.', 'bb'), hidden, hidden] };
    const openai = { model: 'gpt-5-mini', field: 'reasoning_content', fields };
    const part = { type: 'reasoning', text: 'One.Two.', providerMetadata: { openai } };
    expect(parts).toEqual([part, part]);
    expect(shown.join('')).toBe('One.Two.');
  });
});

test('reads reasoning that Databricks puts into the content, and does not send it back', async () => {
  const summary = (text: string) => ({ type: 'reasoning', summary: [{ type: 'summary_text', text }] });
  const text = { type: 'text', text: 'Hi' };
  const content = [summary('Look first.'), text];
  const whole = await exchange({ json: { choices: [{ message: { content }, finish_reason: 'stop' }] } });
  const deltas = [[summary('Look ')], [summary('first.')], [text]].map((piece) => chunk({ content: piece }));
  const streamed = await streamedExchange({ chunks: [...deltas, end()] });

  for (const { response } of [whole, streamed]) {
    expect(response?.content).toEqual([{ type: 'reasoning', text: 'Look first.' }, text]);
  }
});

describe('a thought of Gemini before the text', () => {
  const google = { thought: true, thought_signature: 'EqcB' };
  const whole = (content: string, extra: object = google) => ({
    json: { choices: [{ message: { content, extra_content: { google: extra } }, finish_reason: 'stop' }] },
  });

  test('is not sent back, but its signature is', async () => {
    const { response } = await exchange(whole('<thought>Two each.</thought>Six. <thought>'));

    const fields = { extra_content: { google: { thought_signature: 'EqcB' } } };
    const providerMetadata = { openai: { model: 'gpt-5-mini', fields } };
    expect(response?.content).toEqual([
      { type: 'reasoning', text: 'Two each.' },
      { type: 'text', text: 'Six. <thought>', providerMetadata },
    ]);
  });

  test('is recognized only by its flag and its tag', async () => {
    const [marked, cut, unmarked] = await Promise.all([
      exchange(whole('Two each.', { thought: true })),
      exchange(whole('<thought>Two', { thought: true })),
      exchange(whole('<thought>Two each.</thought>Six.', {})),
    ]);

    // Gemini flags whole answers without a thought too.
    expect(marked.response?.content).toEqual([{ type: 'text', text: 'Two each.' }]);
    expect(cut.response?.content).toEqual([{ type: 'reasoning', text: 'Two' }]);
    expect(unmarked.response?.content).toMatchObject([{ type: 'text', text: '<thought>Two each.</thought>Six.' }]);
  });
});

describe('for any split of a stream,', () => {
  const words = fc.string({ minLength: 1 }).filter((text) => !text.includes('<'));
  const signed = fc.record({ text: words, signature: fc.option(words) });

  /** Returns the reasoning and the text of a stream of these deltas. */
  async function contentOf(deltas: readonly object[]) {
    const answer = new StreamedAnswer(() => {});
    for (const event of [...deltas.map((delta) => chunk(delta)), end()]) answer.take(event);
    return readCompletion(answer.whole(), 'm').content;
  }

  /** A string split into non-empty pieces. */
  function pieces(text: string, cuts: readonly number[]): readonly string[] {
    const ends = [...cuts.map((cut) => 1 + (cut % text.length)), text.length].sort((a, b) => a - b);
    return ends.map((at, order) => text.slice(ends[order - 1] ?? 0, at)).filter((piece) => piece !== '');
  }

  test('reasoning blocks are reassembled', async () => {
    const property = fc.asyncProperty(fc.array(signed, { minLength: 1 }), fc.array(fc.nat()), async (given, cuts) => {
      // Two adjacent blocks without a signature are merged into one.
      const blocks = given.map(({ text, signature }, at) =>
        thought(text, signature ?? (at < given.length - 1 ? 's' : null)),
      );
      const deltas = blocks.flatMap(({ thinking, signature }) => [
        ...pieces(thinking, cuts).map((piece) => ({ thinking_blocks: [thought(piece)] })),
        ...(signature === null ? [] : [{ thinking_blocks: [thought('', signature)] }]),
      ]);

      const [part] = await contentOf(deltas);

      const fields = { thinking_blocks: blocks };
      const text = blocks.map(({ thinking }) => thinking).join('');
      expect(part).toEqual({ type: 'reasoning', text, providerMetadata: { openai: { model: 'm', fields } } });
    });
    await fc.assert(property);
  });

  test('a thought of Gemini is separated from the text', async () => {
    const property = fc.asyncProperty(words, words, fc.array(fc.nat()), async (thinks, says, cuts) => {
      const marked = pieces(thinks, cuts).map((content, at) => ({
        content: at === 0 ? `<thought>${content}` : content,
        extra_content: { google: { thought: true } },
      }));
      const said = pieces(says, cuts).map((content, at) => ({ content: at === 0 ? `</thought>${content}` : content }));

      expect(await contentOf([...marked, ...said])).toEqual([
        { type: 'reasoning', text: thinks },
        { type: 'text', text: says },
      ]);
    });
    await fc.assert(property);
  });
});

test('a resumed run sends all metadata of the turns before its suspension', async () => {
  const look = { index: 0, id: 'call_0', type: 'function', function: { name: 'look', arguments: '{}' } };
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  const turns = [
    [thinks('Hm.', thought('Hm.')), thinks('', thought('', 'aa')), chunk({ tool_calls: [look] }), end('tool_calls')],
    [chunk({ images: [picture] }), chunk({ tool_calls: [look] }), end('tool_calls')],
  ];
  await using server = await startOpenAIServer((body, index) =>
    index < 2 ? { chunks: turns[index] ?? [] } : replyWith({ text: 'Done.' }, body),
  );
  const model = openai('m', { baseURL: server.baseURL });
  const tool = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), execute: () => 'Seen.' });
  const asks = {
    afterModel: (_: unknown, { turn }: { turn: number }) => (turn === 2 ? HookAction.suspend('?') : undefined),
  };

  const stopped = await new Agent({ model, tools: [tool], lifecycle: [asks] }).stream('Go').result;
  const messages: Message[] = JSON.parse(JSON.stringify(stopped.history));
  const resumed = await new Agent({ model, tools: [tool] }).stream('', { messages, resume: { call_0: 'approve' } })
    .result;

  expect([stopped.status, resumed.status, resumed.text]).toEqual(['suspended', 'completed', 'Done.']);
  const { index: _index, ...call } = look;
  const last = server.requests[2]?.body as RequestBody;
  expect(last.messages).toEqual([
    { role: 'user', content: 'Go' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm.',
      thinking_blocks: [thought('Hm.', 'aa')],
      tool_calls: [call],
    },
    { role: 'tool', tool_call_id: 'call_0', content: 'Seen.' },
    { role: 'assistant', content: null, images: [picture], tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_0', content: 'Seen.' },
  ]);
});

test('sends reasoning before a tool call back with the call', async () => {
  const sample = readFileSync(new URL('../../../fixtures/openai/deepseek-tool-call.sse', import.meta.url), 'utf8');
  await using server = await startOpenAIServer((body, index) =>
    index === 0 ? { chunks: [sample], end: 'silent' } : replyWith({ text: 'Today.' }, body),
  );
  const getDate = defineTool({
    name: 'get_date',
    description: 'Today.',
    input: z.object({}),
    execute: () => '2026-01-01',
  });
  const agent = new Agent({ model: openai('deepseek-reasoner', { baseURL: server.baseURL }), tools: [getDate] });

  const { result } = agent.stream('When?');
  await result;

  expect(server.requests[1]?.body.messages.slice(1)).toMatchObject([
    { role: 'assistant', content: null, reasoning_content: '先查日期', tool_calls: [{ id: 'call_00_kw' }] },
    { role: 'tool', content: '2026-01-01' },
  ]);
});
