import { describe, expect, test } from 'vitest';
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

/** Returns the content of a response of this model with one part. */
async function contentOf(fields: Partial<ScriptedModel>, part: object) {
  const { response, error } = await call(scriptedModel('v3', [{ content: [part] }], fields));
  if (response === undefined) throw error;
  return response.content;
}

/** A turn with a tool call from another provider's model. */
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
  ])('get unique ids and names that %j accepts', async (fields, taken) => {
    const sent = await prompt(messages, fields);

    const calls = sent.filter(({ role }) => role === 'assistant').flatMap(({ content }) => content);
    const results = sent.filter(({ role }) => role === 'tool').flatMap(({ content }) => content);
    expect(calls.every(({ toolCallId }) => taken.test(toolCallId))).toBe(true);
    expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(3);
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId));
    expect([calls[0]?.toolName, results[0]?.toolName]).toEqual(['a_b', 'a_b']);
  });

  test('keep their ids for a chat completions server, which may have made them', async () => {
    const sent = await prompt(messages, { provider: 'moonshotai.chat' });

    expect(sent[1]?.content[0]).toMatchObject({ toolCallId: 'functions.look:0', toolName: 'a.b' });
  });

  test('keep their ids for the model that made them, if the server takes them', async () => {
    const call = { type: 'tool-call', toolCallId: 'functions.look:0', toolName: 'look', input: '{}' };
    const kimi = { provider: 'amazon-bedrock', modelId: 'moonshot.kimi-k2-thinking' };
    const made = await contentOf(kimi, call);
    const asked = { role: 'assistant' as const, content: made };
    const result = turn('functions.look:0')[1] as Message;

    const same = await prompt([user, asked, result], kimi);
    const other = await prompt([user, asked, result], { provider: 'amazon-bedrock', modelId: 'anthropic.claude' });

    expect(same.slice(1).map(({ content }) => content[0]?.toolCallId)).toEqual([
      'functions.look:0',
      'functions.look:0',
    ]);
    expect(other[1]?.content[0]?.toolCallId).toMatch(/^[\w-]+$/);
  });

  test('get ids and names that OpenAI accepts in chat completions', async () => {
    const longest = 'x'.repeat(40);
    const [, known, , long, result] = await prompt([user, ...turn(longest), ...turn(`${longest}y`)], {
      provider: 'openai.chat',
    });

    expect(known?.content[0]).toMatchObject({ toolCallId: longest });
    expect(long?.content[0]).toMatchObject({ toolCallId: 'call_made_short_2' });
    expect(result?.content[0]).toMatchObject({ toolCallId: 'call_made_short_2' });
  });

  test('are followed by an assistant message before a user message for Mistral', async () => {
    const sent = await prompt([user, ...turn('call_0'), user], { provider: 'mistral.chat' });

    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });
});

test('drops empty messages, and replaces an empty user message with a placeholder', async () => {
  const messages: Message[] = [{ role: 'system', content: ' ' }, { role: 'user', content: '' }, ...turn('c1')];

  expect((await prompt(messages)).slice(0, 2)).toMatchObject([
    { role: 'user', content: [{ type: 'text', text: '(no message)' }] },
    { role: 'assistant' },
  ]);
});

test('drops blank text beside an image in a tool result', async () => {
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

test('cancels a stream that arrives after the abort', async () => {
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
  await expect.poll(() => cancelled).toBe(true);
});
