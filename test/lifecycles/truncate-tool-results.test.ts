import fc from 'fast-check';
import { Agent, type AgentLifecycle, HookAction, toolResult } from 'keelson';
import { truncateToolResults } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { resultsIn } from '../support/agent/transcript.js';

async function resultOf(output: unknown, lifecycle: readonly AgentLifecycle[]) {
  const model = scriptedModel([calls({ id: 'a', name: 'get' }), 'Done.']);
  return new Agent({ model, tools: [toolOf('get', () => output)], lifecycle }).run('Go.');
}

describe('truncateToolResults', () => {
  test('keeps the beginning and the end of a long text, and adds the number of omitted characters', async () => {
    const { history } = await resultOf(`${'a'.repeat(50)}${'b'.repeat(50)}`, [truncateToolResults({ maxChars: 10 })]);
    expect(resultsIn(history)).toEqual({ a: 'aaaaa\n[… 90 characters left out …]\nbbbbb' });
  });

  test('does not change a short text and records no decision', async () => {
    const { history, decisions } = await resultOf('a'.repeat(30_000), [truncateToolResults()]);
    expect(resultsIn(history).a).toHaveLength(30_000);
    expect(decisions).toEqual([]);
    const parts = [{ type: 'text', text: 'short' }];
    expect((await resultOf(parts, [truncateToolResults()])).decisions).toEqual([]);
    expect(resultsIn((await resultOf('a'.repeat(30_001), [truncateToolResults()])).history).a).toContain(
      '1 characters',
    );
  });

  test('also shortens error results, and keeps structured data, images and files', async () => {
    const picture = { type: 'image', image: 'x'.repeat(100), mediaType: 'image/png' } as const;
    const text = (length: number) => ({ type: 'text', text: 'x'.repeat(length) }) as const;
    const parts = toolResult({ content: [text(60), picture, text(20)], structured: { n: 1 }, isError: true });

    const { history } = await resultOf(parts, [truncateToolResults({ maxChars: 40 })]);

    const shortened = (half: number, out: number) =>
      `${'x'.repeat(half)}\n[… ${out} characters left out …]\n${'x'.repeat(half)}`;
    expect(history[2]?.content).toMatchObject([
      {
        content: [{ text: shortened(15, 30) }, picture, { text: shortened(5, 10) }],
        structured: { n: 1 },
        isError: true,
      },
    ]);
  });

  test('shortens what hooks have redacted, so that they see whole secrets', async () => {
    const redact: AgentLifecycle = {
      priority: 95,
      wrapToolCall: async (call, next) => {
        const result = await next(call);
        return { ...result, content: String(result.content).replace('SECRET', '***') };
      },
    };
    const { history } = await resultOf(`1234SECRET${'x'.repeat(100)}`, [truncateToolResults({ maxChars: 16 }), redact]);
    expect(resultsIn(history).a).toBe(`1234***x\n[… ${107 - 16} characters left out …]\n${'x'.repeat(8)}`);
  });

  test('shortens what the model reads, in each run of a session, and the record keeps the whole result', async () => {
    const model = scriptedModel([calls({ id: 'a', name: 'get' }), 'Done.', 'Yes.']);
    const tools = [toolOf('get', () => 'x'.repeat(100))];
    const agent = new Agent({ model, tools, lifecycle: [truncateToolResults({ maxChars: 10 })] });
    const session = await agent.session();

    await session.run('Go.');
    await session.run('Done?');

    const read = model.requests.slice(1).map(({ messages }) => resultsIn(messages).a);
    expect(read).toEqual(Array(2).fill('xxxxx\n[… 90 characters left out …]\nxxxxx'));
    expect(resultsIn(session.messages).a).toBe('x'.repeat(100));
  });

  test('does not change a suspended call', async () => {
    const suspend: AgentLifecycle = { wrapToolCall: () => HookAction.suspend('wait') };
    expect((await resultOf('x', [truncateToolResults(), suspend])).status).toBe('suspended');
  });

  test('never splits a character and never keeps more than the limit, for random texts', async () => {
    const limit = fc.integer({ min: 1, max: 40 });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), limit, async (text, maxChars) => {
        const { history } = await resultOf(text, [truncateToolResults({ maxChars })]);
        const short = String(resultsIn(history).a);
        expect(short).not.toMatch(/\p{Surrogate}/u);
        if (text.length <= maxChars) {
          expect(short).toBe(text);
          return;
        }
        const [, head = '', count, tail = ''] = /^(.*)\n\[… (\d+) characters left out …\]\n(.*)$/s.exec(short) ?? [];
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(head.length + tail.length).toBeLessThanOrEqual(maxChars);
        expect(head.length + tail.length + Number(count)).toBe(text.length);
      }),
    );
  });
});
