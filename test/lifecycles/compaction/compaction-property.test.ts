import fc from 'fast-check';
import { Agent, type AssistantMessage, type Message, type ToolMessage } from 'keelson';
import { compaction } from 'keelson/lifecycles';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { keepingLogger } from '../../support/agent/silent-logger.js';

const text = fc.string({ maxLength: 200 });

/** A random piece of a conversation: a user or system message, an answer, or a turn with tool calls and later messages. */
const stretch = fc.oneof(
  text.map((content): Message[] => [{ role: 'user', content }]),
  text.map((said): Message[] => [{ role: 'user', content: [{ type: 'text', text: said }] }]),
  text.map((content): Message[] => [{ role: 'user', content: `[Summary of the conversation so far]\n${content}` }]),
  text.map((content): Message[] => [{ role: 'system', content }]),
  text.map((said): Message[] => [{ role: 'assistant', content: [{ type: 'text', text: said }] }]),
  fc.array(text, { minLength: 1, maxLength: 4 }).chain((outputs) =>
    fc.nat(outputs.length).map((split): Message[] => {
      const id = (at: number) => `c${at}`;
      const asking: AssistantMessage = {
        role: 'assistant',
        content: outputs.map((_, at) => ({ type: 'tool-call', id: id(at), name: 'look', input: { at } })),
      };
      const results = outputs.map((content, at) => ({
        type: 'tool-result' as const,
        id: id(at),
        name: 'look',
        content,
      }));
      // Results may be in two messages, as after a resume.
      const messages: ToolMessage[] = [results.slice(0, split), results.slice(split)]
        .filter(({ length }) => length > 0)
        .map((content) => ({ role: 'tool', content }));
      return [asking, ...messages];
    }),
  ),
);

const conversation = fc.array(stretch, { minLength: 1, maxLength: 20 }).map((parts) => parts.flat());
const limit = fc.oneof(
  fc.record({ maxMessages: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ maxTokens: fc.integer({ min: 1, max: 500 }) }),
);

/** Returns true if the first array is a subsequence of the second. */
function isSubsequence(part: readonly Message[], whole: readonly Message[]): boolean {
  let at = 0;
  for (const message of whole) if (message === part[at]) at += 1;
  return at === part.length;
}

/** Fails if an agent refuses the messages, because a tool call has no result or a result has no call. */
async function expectValid(messages: readonly Message[]): Promise<void> {
  const { pending } = await new Agent({ model: scriptedModel(['Done.']) }).run('', { messages });
  expect(pending).toEqual([]);
}

const isSummary = ({ content }: Message) => typeof content === 'string' && content.startsWith('[Summary');

test('for random histories, the compacted messages are valid, in order, and have the last user message', async () => {
  let compacted = 0;
  await fc.assert(
    fc.asyncProperty(conversation, limit, fc.integer({ min: 1, max: 12 }), async (messages, most, keep) => {
      let given: readonly Message[] = [];
      const summarize = (head: readonly Message[]) => {
        given = head;
        return 'short';
      };
      const model = scriptedModel('Done.');
      const logger = keepingLogger();
      const agent = new Agent({
        model,
        lifecycle: [compaction({ ...most, keep, summarize })],
        logger,
      });
      const { history } = await agent.run('', { messages });
      const sent = history.slice(0, -1);

      await expectValid(sent);
      const isLonger = logger.lines.some((line) => line.includes('longer'));
      if (given.length === 0 || isLonger) {
        expect(sent).toEqual(messages);
        return;
      }
      compacted += 1;
      expect(JSON.stringify(sent).length).toBeLessThan(JSON.stringify(messages).length + 100);
      // The summarised messages are a valid conversation, and the other messages follow them.
      await expectValid(given);
      expect(messages.slice(0, given.length)).toEqual(given);
      const added = sent.filter((message) => !messages.includes(message));
      expect(added).toEqual([{ role: 'user', content: '[Summary of the conversation so far]\nshort' }]);
      const stayed = sent.filter((message) => messages.includes(message));
      expect(isSubsequence(stayed, messages)).toBe(true);
      expect(sent.slice(sent.indexOf(added[0] as Message) + 1)).toEqual(messages.slice(given.length));
      for (const system of messages.filter(({ role }) => role === 'system')) expect(stayed).toContain(system);
      const asked = messages.findLast((message) => message.role === 'user' && !isSummary(message));
      if (asked !== undefined) expect(stayed).toContain(asked);
      expect(sent.length).toBeGreaterThan(1);
      expect(stayed.at(-1)).toBe(messages.at(-1));
    }),
    { numRuns: 500 },
  );
  expect(compacted).toBeGreaterThan(100);
});
