import { Agent, MemorySessionStore } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { createAgentHandler, MemoryRunLog } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { backgroundTool } from '../../support/agent/background/lab.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { shownText } from '../../support/ui/read-ui-message.js';

/** A chat with a background tool, whose third answer waits. */
function chat() {
  const held = gate();
  const { tool, works } = backgroundTool();
  const ends: string[] = [];
  const contexts: unknown[] = [];
  const agent = new Agent<string>({
    model: scriptedModel([calls('build'), 'Begun.', () => held.pass().then(() => 'It is built.'), 'You are welcome.']),
    ...{ tools: [tool], store: new MemorySessionStore(), logger: keepingLogger() },
    lifecycle: [
      {
        beforeModel: (_messages, run) => void contexts.push(run.context),
        onSessionEnd: ({ id }) => void ends.push(id),
      },
    ],
  });
  const handler = createAgentHandler(agent, {
    authorize: () => 'ada',
    session: (id) => id,
    context: (user) => user,
    runLog: new MemoryRunLog(),
  });
  return { agent, handler, held, works, ends, contexts };
}

describe('a background work of a chat', () => {
  test('goes on after the answer, and a page that comes back follows the run that it wakes', async () => {
    const { agent, handler, held, works, ends, contexts } = chat();
    const page = new ChatClient(handler);
    await page.sendMessage({ text: 'Build it.' });
    expect(page.messages.map(shownText)).toEqual(['Build it.', 'Begun.']);
    expect([works[0]?.signal.aborted, ends, agent.status().background.length]).toEqual([false, [], 1]);

    works[0]?.end('built');
    await until(() => held.arrived === 1);
    const back = new ChatClient(handler);
    const { messages, running } = await loadHistory(handler);
    expect({ running, shown: messages.map(shownText) }).toEqual({ running: true, shown: ['Build it.', 'Begun.'] });
    back.messages = [...messages];
    const resuming = back.resumeStream();
    await until(() => back.status === 'submitted' || back.status === 'streaming');
    held.open();
    await resuming;

    expect(back.errors).toEqual([]);
    expect(back.messages.map(shownText)).toEqual(['Build it.', 'Begun.', 'It is built.']);
    await until(() => agent.status().sessions === 0);
    const stored = await loadHistory(handler);
    expect(stored.messages.map((message) => [message.id, shownText(message)])).toEqual(
      back.messages.map((message) => [message.id, shownText(message)]),
    );
    expect(contexts).toEqual(['ada', 'ada', 'ada']);

    await back.sendMessage({ text: 'Thank you.' });
    expect(back.messages.map(shownText).slice(3)).toEqual(['Thank you.', 'You are welcome.']);
    expect(back.errors).toEqual([]);
    await agent.close();
  });

  test('wakes a run that the page can stop', async () => {
    const { agent, handler, held, works } = chat();
    await new ChatClient(handler).sendMessage({ text: 'Build it.' });
    works[0]?.end('built');
    await until(() => held.arrived === 1);

    expect(await (await post(handler, '/stop', { id: 'chat' })).json()).toEqual({ stopped: true });
    await until(() => agent.status().sessions === 0);
    expect((await loadHistory(handler)).messages.map(shownText)).toEqual(['Build it.', 'Begun.']);
  });

  test('that ends during an answer leaves the answer one message', async () => {
    const held = gate();
    const { tool, works } = backgroundTool();
    const wait = toolOf('wait', () => held.pass().then(() => 'waited'));
    const model = scriptedModel([calls('build'), calls('wait'), 'It is built.']);
    const agent = new Agent({ model, tools: [tool, wait], store: new MemorySessionStore() });
    const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id });
    const page = new ChatClient(handler);
    const sending = page.sendMessage({ text: 'Build it, and wait.' });
    await until(() => held.arrived === 1);
    works[0]?.end('built');
    await until(() => agent.status().background.length === 0);
    held.open();
    await sending;

    const shown = page.messages.map((message) => [message.role, shownText(message)]);
    const { messages } = await loadHistory(handler);
    expect(model.requests).toHaveLength(3);
    expect(shown).toEqual([
      ['user', 'Build it, and wait.'],
      ['assistant', 'It is built.'],
    ]);
    expect(messages.map((message) => [message.role, shownText(message)])).toEqual(shown);
    expect(messages.at(-1)?.parts.map(({ type }) => type)).toEqual(page.lastMessage?.parts.map(({ type }) => type));
  });
});
