import {
  HttpAgent,
  type HttpAgentConfig,
  type RunAgentInput,
  runHttpRequest,
  transformHttpEventStream,
} from '@ag-ui/client';
import { Agent, type AgentLifecycle, defineTool, HookAction } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, type ScriptEntry, scriptedModel, streams } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { gate, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { startChatServer } from '../../support/ui/chat-server.js';

/** A client of AG-UI that comes back to a running answer. */
class ConnectingAgent extends HttpAgent {
  protected override connect({ threadId }: RunAgentInput) {
    const url = `${this.url}/${encodeURIComponent(threadId)}/stream`;
    return transformHttpEventStream(runHttpRequest(() => this.fetch(url, { method: 'GET' })));
  }

  /** Loads the history, as a page does before it comes back. */
  async load(): Promise<this> {
    const response = await this.fetch(`${this.url}/history?id=${this.threadId}`, {});
    this.messages = ((await response.json()) as { messages: HttpAgentConfig['initialMessages'] }).messages ?? [];
    return this;
  }
}

async function chatOf(script: readonly ScriptEntry[], lifecycle: readonly AgentLifecycle[] = []) {
  const held = gate();
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    input: z.object({}),
    execute: () => held.pass().then(() => 'worked'),
  });
  const agent = new Agent({
    model: scriptedModel(script),
    tools: [work],
    lifecycle: [...lifecycle],
    logger: keepingLogger(),
  });
  const handler = createAgentHandler(agent, {
    authorize: 'none',
    session: (id) => id,
    protocol: 'ag-ui',
  });
  const server = await startChatServer(handler);
  const page = () => new ConnectingAgent({ url: `${server.url}/chat`, threadId: 't1' });
  /** Comes back to the running answer, and then lets it go on. Returns the types of the events. */
  const follow = async (back: ConnectingAgent) => {
    const types: string[] = [];
    const connected = back.connectAgent({}, { onEvent: ({ event }) => void types.push(event.type) });
    await until(() => types.length > 0);
    held.open();
    await connected;
    return types;
  };
  return { held, page, follow, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
const ask = (page: HttpAgent, id: string) => {
  page.addMessage({ id, role: 'user', content: 'Go.' });
  return page.runAgent();
};

test('a page that comes back gets the running answer as a run that the client of AG-UI accepts', async () => {
  await using chat = await chatOf([calls('work'), streams(['Do', 'ne.'])]);
  const first = chat.page();
  const running = ask(first, 'm1');
  await until(() => chat.held.arrived === 1);
  const back = await chat.page().load();
  expect(back.messages).toMatchObject([{ id: 'm1', role: 'user' }]);

  const types = await chat.follow(back);
  await running;

  expect([types[0], types.at(-1)]).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
  expect(back.messages).toEqual(first.messages);
  expect((await chat.page().load()).messages).toEqual(first.messages);
});

test('a page that comes back after a decision gets the result of the approved call', async () => {
  await using chat = await chatOf([calls('work'), 'Done.'], [approval({ tools: ['work'] })]);
  const first = chat.page();
  await ask(first, 'm1');
  const resume = [{ interruptId: 'call_1', status: 'resolved', payload: { approved: true } }] as const;
  const running = first.runAgent({ resume: [...resume] });
  await until(() => chat.held.arrived === 1);
  const back = await chat.page().load();

  await chat.follow(back);
  await running;

  expect(back.messages).toEqual(first.messages);
});

test('a page that comes back to an answer with replaced text has all messages of the chat at the end', async () => {
  const censor: AgentLifecycle = {
    afterModel: (response) => {
      if (!JSON.stringify(response.content).includes('secret')) return HookAction.Continue;
      return HookAction.modify({ ...response, content: [{ type: 'text', text: 'Censored.' }] });
    },
  };
  await using chat = await chatOf(['Hello.', calls('work'), streams(['The ', 'secret.'])], [censor]);
  const first = chat.page();
  await ask(first, 'm1');
  const running = ask(first, 'm2');
  await until(() => chat.held.arrived === 1);
  const back = await chat.page().load();

  await chat.follow(back);
  await running;

  expect(back.messages).toEqual(first.messages);
  expect(back.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Censored.' });
});

test('a page that comes back while nothing runs keeps its messages', async () => {
  await using chat = await chatOf(['Hello.']);
  const first = chat.page();
  await ask(first, 'm1');
  const back = await chat.page().load();

  expect(await back.connectAgent()).toMatchObject({ newMessages: [] });

  expect(back.messages).toEqual(first.messages);
});
