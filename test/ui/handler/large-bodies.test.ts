import fc from 'fast-check';
import { Agent, defineTool, MemorySessionStore } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { shownText } from '../../support/ui/read-ui-message.js';

const shoot = defineTool({
  name: 'shoot',
  description: 'Takes a screenshot.',
  input: z.object({}),
  execute: () => [{ type: 'image', image: 'A'.repeat(40_000), mediaType: 'image/png' }],
});

const chatOf = () => {
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'user' && messages.at(-1)?.content !== 'hello' ? calls('shoot') : 'ok',
  );
  const agent = new Agent({ model, tools: [shoot], store: new MemorySessionStore() });
  const options = { authorize: 'none', session: (id: string) => id, logger: keepingLogger() } as const;
  return createAgentHandler(agent, { ...options, maxBodyBytes: 50_000 });
};
const says = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] });

describe('a page that repeats the whole chat', () => {
  test('can go on after more screenshots than one message may hold, also after a reload', async () => {
    const handler = chatOf();
    const page = new ChatClient(handler);
    for (const text of ['one', 'two', 'three']) await page.sendMessage({ text });

    await page.sendMessage({ text: 'hello' });
    const reloaded = new ChatClient(handler);
    reloaded.messages = [...(await loadHistory(handler)).messages];
    await reloaded.sendMessage({ text: 'hello' });

    expect([...page.errors, ...reloaded.errors]).toEqual([]);
    expect(page.bodies.at(-1)?.length).toBeGreaterThan(120_000);
    expect(reloaded.messages.map(shownText).slice(-2)).toEqual(['hello', 'ok']);
  });

  test('may send at most `maxBodyBytes` in its last message, and sixteen times as much in all', async () => {
    const handler = chatOf();
    const long = 'x'.repeat(51_000);
    const earlier = Array.from({ length: 17 }, (_, index) => says(`m${index}`, long));

    const answers = await Promise.all([
      post(handler, '', { id: 'a', messages: [says('1', 'hi'), says('2', long)] }),
      post(handler, '', { id: 'b', messages: [says('1', 'hello')], other: long }),
      post(handler, '', { id: 'c', messages: [...earlier, says('2', 'hello')] }),
      post(handler, '', { id: 'd', messages: [...earlier.slice(2), says('2', 'hello')] }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413, 200]);
  });
});

test('a body is read alike, wherever its chunks are split', async () => {
  const handler = chatOf();
  const messages = [says('1', 'früher 🎉 "messages": [ \\", ]}'), says('2', 'hello')];
  const body = { messages, id: 'chat', trigger: 'submit-message' };
  const sizesOf = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(sizesOf, fc.nat({ max: 2 }), async (sizes, indent) => {
      const bytes = new TextEncoder().encode(JSON.stringify(body, undefined, indent));
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += sizes[(chunks.length - 1) % sizes.length] ?? 1) {
        chunks.push(bytes.subarray(at, at + (sizes[chunks.length % sizes.length] ?? 1)));
      }
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, duplex: 'half' } as RequestInit;
      const response = await handler(
        new Request('http://localhost/api/chat', { ...init, body: ReadableStream.from(chunks) }),
      );
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('ok');
    }),
    { numRuns: 20 },
  );
});

test.each([
  ['a key that could change a prototype', '{"id":"c","messages":[],"x":{"__proto__":{"a":1}}}', '__proto__'],
  ['an array', '[1]', 'must be an object'],
  ['a string', '"x"', 'must be an object'],
  ['a cut body', '{"id":"c"', 'complete and valid JSON'],
  ['two bodies', '{"id":"c"} {}', 'complete and valid JSON'],
  ['a missing message', '{"id":"c","messages":[,]}', 'complete and valid JSON'],
  ['messages without a comma', '{"id":"c","messages":[{} {}]}', 'complete and valid JSON'],
  ['a list with another end', '{"id":"c","messages":[{}}', 'complete and valid JSON'],
  ['nothing', '', 'complete and valid JSON'],
])('refuses %s', async (_title, body, problem) => {
  const response = await post(chatOf(), '', body);

  expect(response.status).toBe(400);
  expect(await response.text()).toContain(problem);
});
