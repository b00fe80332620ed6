import { describe, expect, test, vi } from 'vitest';
import type { Message } from '../../../src/model/message.js';
import { call, type ScriptedModel, scriptedModel } from '../../support/providers/ai-sdk-model.js';

const answer = { content: [{ type: 'text', text: 'Hi' }] };
const user: Message = { role: 'user', content: 'Hello' };

interface SentPart {
  readonly toolCallId: string;
  readonly toolName: string;
}

async function prompt(messages: readonly Message[], fields: Partial<ScriptedModel> = {}) {
  const { error, model } = await call(scriptedModel('v3', [answer], fields), { messages });
  if (error) throw error;
  return model.calls[0]?.prompt as readonly { readonly role: string; readonly content: readonly SentPart[] }[];
}

/** A turn that another provider's model called a tool in. */
function turn(id: string, name = 'look'): readonly Message[] {
  return [
    { role: 'assistant', content: [{ type: 'tool-call', id, name, input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', id, name, content: 'ok' }] },
  ];
}

describe('calls of another provider', () => {
  const messages = [user, ...turn('functions.look:0', 'a.b'), ...turn('call_0'), ...turn('call_0')];

  test.each([
    [{ provider: 'anthropic.messages' }, /^[\w-]+$/],
    [{ provider: 'amazon-bedrock' }, /^[\w-]+$/],
    [{ provider: 'mistral.chat' }, /^[a-z0-9]{9}$/],
    [{ provider: 'openrouter.chat', modelId: 'mistralai/devstral-medium' }, /^[a-z0-9]{9}$/],
  ])('have ids and names that %j takes, each id its own', async (fields, taken) => {
    const sent = await prompt(messages, fields);

    const calls = sent.filter(({ role }) => role === 'assistant').flatMap(({ content }) => content);
    const results = sent.filter(({ role }) => role === 'tool').flatMap(({ content }) => content);
    expect(calls.every(({ toolCallId }) => taken.test(toolCallId))).toBe(true);
    expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(3);
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId));
    expect([calls[0]?.toolName, results[0]?.toolName]).toEqual(['a_b', 'a_b']);
  });

  test('stay as they are for a server of chat completions, whose own they may be', async () => {
    const sent = await prompt(messages, { provider: 'moonshotai.chat' });

    expect(sent[1]?.content[0]).toMatchObject({ toolCallId: 'functions.look:0', toolName: 'a.b' });
  });

  test('have ids and names that OpenAI takes by chat completions, too', async () => {
    const longest = 'x'.repeat(40);
    const [, known, , long, result] = await prompt([user, ...turn(longest), ...turn(`${longest}y`)], {
      provider: 'openai.chat',
    });

    expect(known?.content[0]).toMatchObject({ toolCallId: longest });
    expect(long?.content[0]).toMatchObject({ toolCallId: 'call_made_short_2' });
    expect(result?.content[0]).toMatchObject({ toolCallId: 'call_made_short_2' });
  });

  test('are answered before a user speaks to a model of Mistral', async () => {
    const sent = await prompt([user, ...turn('call_0'), user], { provider: 'mistral.chat' });

    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });
});

test('what says nothing is left out, and told of where it is the user', async () => {
  const messages: Message[] = [{ role: 'system', content: ' ' }, { role: 'user', content: '' }, ...turn('c1')];

  expect((await prompt(messages)).slice(0, 2)).toMatchObject([
    { role: 'user', content: [{ type: 'text', text: '(no message)' }] },
    { role: 'assistant' },
  ]);
});

test('a text without a word beside a picture that a tool gives is left out', async () => {
  const png = { type: 'image', image: 'iVBO', mediaType: 'image/png' } as const;
  const [call = user] = turn('c1');
  const content = [{ type: 'text' as const, text: '' }, png];
  const sent = await prompt([
    user,
    call,
    { role: 'tool', content: [{ type: 'tool-result', id: 'c1', name: 'look', content }] },
  ]);

  expect(sent[2]?.content).toMatchObject([{ output: { type: 'content', value: [{ type: 'image-data' }] } }]);
});

test('a stream that comes after the abort is let go', async () => {
  const controller = new AbortController();
  const reason = new DOMException('The user left.', 'AbortError');
  let cancelled = false;
  const model = scriptedModel('v3', [[]]);
  const stream = new ReadableStream({
    cancel() {
      cancelled = true;
    },
  });
  const doStream = async () => {
    controller.abort(reason);
    return { stream };
  };

  const { error } = await call({ ...model, doStream }, { signal: controller.signal }, { streamed: true });

  expect(error).toBe(reason);
  await vi.waitFor(() => expect(cancelled).toBe(true));
});
