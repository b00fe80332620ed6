import { type AgentLifecycle, type Entry, messagesOf, textOf } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { type ChatProcess, startChatProcesses } from '../../support/ui/chat-processes.js';
import { shownText } from '../../support/ui/read-ui-message.js';

/** Summarizes everything before the latest message if there are more than six. */
const summarizer: AgentLifecycle = {
  name: 'summarizer',
  beforeModel: (messages, run) => {
    const from = messages.at(-1);
    if (messages.length > 6 && from !== undefined) run.summarize({ text: 'They counted.', from });
  },
};

/** A page that is open. */
interface Page extends ChatProcess {
  readonly client: ChatClient;
  readonly chat: string;
}

/** Starts two processes. Their answers are numbered, so that a new answer differs from the old one. */
function startTwo(lifecycle: readonly AgentLifecycle[]): Promise<readonly ChatProcess[]> {
  let count = 0;
  const model = scriptedModel(({ messages }) => {
    count += 1;
    return `${count} to ${messages.slice(-1).map(textOf)}`;
  });
  return startChatProcesses(2, { model, lifecycle });
}

async function openPage(process: ChatProcess, chat = 'chat'): Promise<Page> {
  const client = new ChatClient(process.handler, chat);
  client.messages = (await loadHistory(process.handler, chat)).messages;
  return { ...process, client, chat };
}

async function say({ client }: Page, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await client.sendMessage({ text });
}

async function entriesOf({ store, chat }: Page): Promise<readonly Entry[]> {
  return (await store.load(chat))?.entries ?? [];
}

const textsOf = async (page: Page) => messagesOf(await entriesOf(page)).map(textOf);
const isMarker = ({ parts }: { readonly parts: readonly { readonly type: string }[] }) =>
  parts[0]?.type === 'data-summary';
const saidOn = ({ client }: Page) => client.messages.filter((message) => !isMarker(message)).map(shownText);

/** Returns the id of a message on the page by its text. */
function idOn({ client }: Page, text: string | RegExp): string {
  const found = client.messages.find((message) => shownText(message).match(text));
  return found?.id ?? expect.fail(`The page does not show ${text}.`);
}

const situations: readonly (readonly [string, () => Promise<Page>])[] = [
  [
    'after a compaction',
    async () => {
      const [one] = await startTwo([summarizer]);
      const page = await openPage(one as ChatProcess);
      await say(page, 'q1', 'q2', 'q3', 'q4', 'q5');
      return page;
    },
  ],
  [
    'after a compaction and a reload, from another process',
    async () => {
      const [one, two] = await startTwo([summarizer]);
      await say(await openPage(one as ChatProcess), 'q1', 'q2', 'q3', 'q4', 'q5');
      return openPage(two as ChatProcess);
    },
  ],
  [
    'in a copy',
    async () => {
      const [one] = await startTwo([]);
      await say(await openPage(one as ChatProcess), 'q1', 'q2', 'q3');
      await using session = await (one as ChatProcess).agent.session({ id: 'chat' });
      await session.fork({ id: 'copy' });
      return openPage(one as ChatProcess, 'copy');
    },
  ],
  [
    'in a copy of a compacted chat, in another process',
    async () => {
      const [one, two] = await startTwo([summarizer]);
      await say(await openPage(one as ChatProcess), 'q1', 'q2', 'q3', 'q4', 'q5');
      await using session = await (two as ChatProcess).agent.session({ id: 'chat' });
      await session.fork({ id: 'copy' });
      return openPage(two as ChatProcess, 'copy');
    },
  ],
  [
    'on a page that is left open while the chat goes on in another process, and is compacted',
    async () => {
      const [one, two] = await startTwo([summarizer]);
      const page = await openPage(one as ChatProcess);
      await say(page, 'q1', 'q2', 'q3');
      await say(await openPage(two as ChatProcess), 'q4', 'q5', 'q6');
      return page;
    },
  ],
  [
    'on a page that is left open while another process begins a branch',
    async () => {
      const [one, two] = await startTwo([]);
      const page = await openPage(one as ChatProcess);
      await say(page, 'q1', 'q2', 'q3');
      const other = await openPage(two as ChatProcess);
      await other.client.sendMessage({ text: 'another', messageId: idOn(other, 'q1') });
      return page;
    },
  ],
];

describe.each(situations)('%s', (_situation, open) => {
  /** Acts on the page. Expects that each request succeeds, that each entry stays, and that the page shows the branch. */
  async function act(page: Page, change: (page: Page) => Promise<unknown>) {
    const before = await entriesOf(page);
    await change(page);
    const after = await entriesOf(page);
    expect(page.client.errors).toEqual([]);
    expect(new Set(page.handler.statuses)).toEqual(new Set([200]));
    expect(after.slice(0, before.length)).toEqual(before);
    expect(await textsOf(page)).toEqual(saidOn(page));
    const loaded = await loadHistory(page.handler, page.chat);
    expect(loaded.messages.filter((message) => !isMarker(message)).map(shownText)).toEqual(saidOn(page));
    return saidOn(page);
  }

  test('the last answer of the page is given again, in a new branch', async () => {
    const page = await open();
    const shown = saidOn(page);

    const said = await act(page, ({ client }) => client.regenerate());

    expect(said.slice(0, -1)).toEqual(shown.slice(0, -1));
    expect(said.at(-1)).not.toBe(shown.at(-1));
  });

  test('an earlier answer is given again, in a new branch', async () => {
    const page = await open();
    const shown = saidOn(page);

    const said = await act(page, ({ client }) => client.regenerate({ messageId: idOn(page, / to q2/) }));

    expect(said).toEqual([...shown.slice(0, 3), expect.stringMatching(/ to q2$/)]);
    expect(said[3]).not.toBe(shown[3]);
  });

  test('an edited message begins a branch in its place, and the chat goes on from there', async () => {
    const page = await open();
    const shown = saidOn(page);

    const said = await act(page, async ({ client }) => {
      await client.sendMessage({ text: 'edited', messageId: idOn(page, 'q2') });
      await say(page, 'more');
    });

    const answers = ['edited', expect.stringMatching(/ to edited$/), 'more', expect.stringMatching(/ to more$/)];
    expect(said).toEqual([...shown.slice(0, 2), ...answers]);
  });

  test('undo goes back to the place before a message, and the chat goes on from there', async () => {
    const page = await open();
    const shown = saidOn(page);

    const said = await act(page, async ({ client, handler, chat }) => {
      await post(handler, '/undo', { id: chat, message: idOn(page, 'q2') });
      client.messages = (await loadHistory(handler, chat)).messages;
      expect(saidOn(page)).toEqual(shown.slice(0, 2));
      await say(page, 'more');
    });

    expect(said).toEqual([...shown.slice(0, 2), 'more', expect.stringMatching(/ to more$/)]);
  });

  test('a new message goes to the end of the chat, whatever the page shows', async () => {
    const page = await open();
    const before = await textsOf(page);

    await say(page, 'more');

    expect(page.client.errors).toEqual([]);
    expect(await textsOf(page)).toEqual([...before, 'more', expect.stringMatching(/ to more$/)]);
  });
});

test('a page that is left open after an undo sends its message to the end, and can return to what was undone', async () => {
  const [one, two] = await startTwo([summarizer]);
  const page = await openPage(one as ChatProcess);
  await say(page, 'q1', 'q2', 'q3', 'q4', 'q5');
  const shown = saidOn(page);
  await post((two as ChatProcess).handler, '/undo', { id: 'chat', message: idOn(page, 'q2') });

  await say(page, 'more');
  expect(await textsOf(page)).toEqual([...shown.slice(0, 2), 'more', expect.stringMatching(/ to more$/)]);
  await page.client.regenerate({ messageId: idOn(page, / to q5/) });

  expect(page.client.errors).toEqual([]);
  expect(await textsOf(page)).toEqual([...shown.slice(0, -1), expect.stringMatching(/ to q5$/)]);
});
