import { defineTool, textOf } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { type ChatProcess, startChatProcesses } from '../../support/ui/chat-processes.js';
import { shownText } from '../../support/ui/read-ui-message.js';

const NOT_COPIED = 'This copy of the conversation does not run the call.';

/** Asks for a payment in a chat of two processes, and copies the chat twice while the payment waits for an approval. */
async function payInCopies() {
  const paid: number[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ euro: z.number() }),
    execute: ({ euro }) => {
      paid.push(euro);
      return `Paid ${euro} euro.`;
    },
  });
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return `The tool says: ${textOf(last)}`;
    const result = messages.findLast(({ role }) => role === 'tool');
    return result ? `Not here: ${textOf(result)}` : calls({ name: 'pay', input: { euro: 40 } });
  });
  const processes = await startChatProcesses(2, { model, tools: [pay], lifecycle: [approval({ tools: ['pay'] })] });
  const [{ agent, handler }] = processes as [ChatProcess];
  const client = new ChatClient(handler);
  await client.sendMessage({ text: 'Pay 40 euro' });
  await using session = await agent.session({ id: 'chat' });
  for (const id of ['copy-1', 'copy-2']) await session.fork({ id });
  return { paid, client, handlers: processes.map((process) => process.handler) };
}

/** The request of a page whose person has clicked "Approve". */
function clickIn(chat: string, { messages }: ChatClient) {
  const decided = messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) =>
      'approval' in part
        ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved: true } }
        : part,
    ),
  }));
  return { id: chat, messages: decided };
}

test('an approval that is clicked three times, in the original and in two copies, pays once', async () => {
  const { paid, client, handlers } = await payInCopies();
  const chats = ['chat', 'copy-1', 'copy-2'];

  const clicks = chats.flatMap((chat) => [0, 1, 2].map((click) => ({ chat, click })));
  const answers = await Promise.all(
    clicks.map(async ({ chat, click }) => {
      const handler = handlers[click % 2] ?? expect.fail();
      const response = await post(handler, '', clickIn(chat, client));
      const { status, headers } = response;
      return { chat, status, code: headers.get('keelson-error'), text: await response.text() };
    }),
  );

  expect(paid).toEqual([40]);
  const original = answers.filter(({ chat }) => chat === 'chat');
  expect(original.filter(({ text }) => text.includes('Paid 40 euro.'))).toHaveLength(1);
  for (const { text, code } of original) {
    expect(`${code} ${text}`).toMatch(/Paid 40 euro|ERR_UI_CALL_UNKNOWN|ERR_RESUME_INVALID/);
  }
  for (const { status, code, text } of answers.filter(({ chat }) => chat !== 'chat')) {
    expect([status, code]).toEqual([409, 'ERR_UI_CALL_UNKNOWN']);
    expect(text).toMatch(/must be the id of a tool call or an answer that waits for a decision/);
  }
});

test.each(['copy-1', 'copy-2'])(
  'the chat %s asks for no approval, and its next answer says why, while the original can still pay',
  async (chat) => {
    const { paid, client, handlers } = await payInCopies();
    const [handler = expect.fail()] = handlers;
    const copy = new ChatClient(handler, chat);
    const loaded = await loadHistory(handler, chat);
    copy.messages = loaded.messages;
    expect(loaded.pending).toEqual([]);
    expect(JSON.stringify(loaded.messages)).not.toContain('approval-requested');

    await copy.sendMessage({ text: 'Did you pay?' });

    expect(copy.errors).toEqual([]);
    expect(copy.lastMessage && shownText(copy.lastMessage)).toBe(`Not here: ${NOT_COPIED}`);
    expect(paid).toEqual([]);
    await client.addToolApprovalResponse({ id: 'call_1', approved: true });
    await expect.poll(() => client.lastMessage && shownText(client.lastMessage)).toContain('Paid 40 euro.');
    expect(paid).toEqual([40]);
  },
);
