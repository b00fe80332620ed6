import { HttpAgent, type Message, type RunAgentParameters } from '@ag-ui/client';
import { Agent, defineTool, MemorySessionStore } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler } from 'keelson/ui';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../support/agent/sample-tools.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { post } from '../../support/ui/chat-client.js';
import { startChatServer } from '../../support/ui/chat-server.js';

/** The client prints each refusal. */
beforeEach(() => {
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => logged.mockRestore());
});

/** A tool that the page declares. */
const askColour = {
  name: 'askColour',
  description: 'Asks the person for a colour.',
  parameters: { type: 'object', properties: { shades: { type: 'number' } } },
};
const ASK = { name: 'askColour', input: { shades: 3 } };

/** A chat whose tool `look` runs on the server; `pay` waits for approval. `own` are further tools of the agent. */
async function arrange(script: Parameters<typeof scriptedModel>[0], options: Partial<AgentHandlerOptions> = {}) {
  const logger = keepingLogger();
  const model = scriptedModel(script);
  const own = defineTool({ name: 'ownColour', description: 'Asks.', input: z.object({}) });
  const tools = [toolOf('look', () => 'seen'), toolOf('pay', () => 'paid'), own];
  const lifecycle = [approval({ tools: ['pay'] })];
  const agent = new Agent({ model, tools, lifecycle, store: new MemorySessionStore(), logger });
  const all = { authorize: 'none', session: (id: string) => id, protocol: 'ag-ui', logger, ...options } as const;
  const handler = createAgentHandler(agent, all);
  const server = await startChatServer(handler);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { logger, model, handler, client: new HttpAgent({ url: server.url, threadId: 't1' }) };
}

/** Runs the client. Returns the types of the events, and the outcome. */
async function run(client: HttpAgent, parameters: RunAgentParameters = { tools: [askColour] }) {
  const types: string[] = [];
  let outcome: unknown;
  const onEvent = ({ event }: { event: { type: string; outcome?: unknown } }) => {
    types.push(event.type);
    outcome = event.outcome ?? outcome;
  };
  await client.runAgent(parameters, { onEvent });
  return { types, outcome };
}

const say = (client: HttpAgent, content = 'Ask me.') => client.addMessage({ id: `u${content}`, role: 'user', content });
const answer = (client: HttpAgent, toolCallId: string, result: string | { error: string }) => {
  const content = typeof result === 'string' ? { content: result } : { content: '', ...result };
  client.addMessage({ id: `t${toolCallId}`, role: 'tool', toolCallId, ...content });
};
/** Approves the call of `pay`. */
const resume = [{ interruptId: 'call_2', status: 'resolved' as const, payload: { approved: true } }];

describe('a tool that an AG-UI page sends', () => {
  test('is offered to the model, ends the run without a result, and its tool message continues the answer', async () => {
    const { client, model } = await arrange([calls({ name: 'look' }, ASK), 'Red it is.']);
    say(client);

    const first = await run(client);
    answer(client, 'call_2', 'red');
    const second = await run(client);

    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual(
      Array(2).fill(['look', 'pay', 'ownColour', 'askColour']),
    );
    expect(model.requests[0]?.tools.at(-1)?.inputSchema).toEqual(askColour.parameters);
    expect(first.types.filter((type) => /^TOOL|FINISHED$/.test(type))).toEqual([
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
      ...['TOOL_CALL_RESULT', 'STEP_FINISHED', 'RUN_FINISHED'],
    ]);
    expect([first.outcome, second.outcome]).toEqual([{ type: 'success' }, { type: 'success' }]);
    expect(second.types.filter((type) => type.startsWith('TOOL'))).toEqual([]);
    expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: 'seen', call_2: 'red' });
    expect(client.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Red it is.' });
  });

  test('may be called twice in one turn, and may fail', async () => {
    const { client, model } = await arrange([calls(ASK, ASK), 'One.']);
    say(client);
    await run(client);

    answer(client, 'call_1', 'red');
    await run(client);
    const early = model.requests.length;
    answer(client, 'call_2', { error: 'No screen.' });
    await run(client);

    expect(early).toBe(1);
    expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: 'red', call_2: '!No screen.' });
  });

  test('stands beside a call that waits for approval', async () => {
    const { client, model } = await arrange([calls(ASK, { name: 'pay' }), 'Both.']);
    say(client);

    const { outcome } = await run(client);
    answer(client, 'call_1', 'red');
    await run(client, { tools: [askColour], resume });

    expect(outcome).toMatchObject({ type: 'interrupt', interrupts: [{ id: 'call_2' }] });
    expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: 'red', call_2: 'paid' });
  });

  test('may be a tool of the agent without `execute`', async () => {
    const { client, model, logger } = await arrange([calls('ownColour'), 'Red it is.']);
    say(client);
    await run(client, {});

    answer(client, 'call_1', 'red');
    // CopilotKit knows a tool of the page only if the page declares it, too.
    await run(client, { tools: [{ ...askColour, name: 'ownColour' }] });

    expect(model.requests[1]?.tools.at(-1)).toMatchObject({ name: 'ownColour', description: 'Asks.' });
    expect(logger.lines).toEqual([]);
    expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: 'red' });
  });

  test('is denied if the person writes a message instead', async () => {
    const { client, model } = await arrange([calls(ASK), 'Never mind.']);
    say(client);
    await run(client);

    say(client, 'Leave it.');
    await run(client);

    expect(resultsIn(model.requests[1]?.messages ?? []).call_1).toMatch(/^!The call was denied/);
  });

  test('is open after a reload, and the answer goes on from the loaded messages', async () => {
    const { client, handler, model } = await arrange([calls(ASK), 'Red it is.']);
    say(client);
    await run(client);

    const history = await handler(new Request('http://localhost/chat/history?id=t1'));
    const { messages, pending } = (await history.json()) as { messages: Message[]; pending: unknown };
    client.setMessages(messages);
    answer(client, 'call_1', 'red');
    await run(client);

    expect(pending).toEqual([{ id: 'call_1', ...ASK, reason: 'The caller runs "askColour".', needs: 'result' }]);
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', toolCalls: [{ id: 'call_1' }] });
    expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: 'red' });
  });

  test('is ignored with `pageTools: false`, and the handler logs it', async () => {
    const { client, model, logger } = await arrange(['Hello.'], { pageTools: false });
    say(client);

    await run(client);

    expect(model.requests[0]?.tools.map(({ name }) => name)).not.toContain('askColour');
    expect(logger.lines).toEqual([
      'warn: The handler ignores the `tools` of its pages. Set the option `pageTools: true` to offer them to the model.',
    ]);
  });
});

describe('refuses', () => {
  test('a tool with the name of a server tool', async () => {
    const { client, model } = await arrange(['Hello.']);
    say(client);

    const running = run(client, { tools: [askColour, { ...askColour, name: 'pay' }] });

    await expect(running).rejects.toThrow(
      'HTTP 400: the name of `tools[1]` must be a name that no tool of the agent has, got "pay"',
    );
    expect(model.requests).toEqual([]);
  });

  test.each([
    ['the result of a server tool that waits for approval', 'call_2'],
    ['the result of an unknown call', 'call_9'],
  ])('%s', async (_title, id) => {
    const { client, model } = await arrange([calls(ASK, { name: 'pay' }), 'Both.']);
    say(client);
    await run(client);

    answer(client, 'call_1', 'red');
    answer(client, id, 'paid');

    const forged = run(client, { tools: [askColour], resume });

    await expect(forged).rejects.toThrow(`HTTP 409: The tool call "${id}" does not wait for a result from the page`);
    expect(model.requests).toHaveLength(1);
  });

  test('a second result of a call', async () => {
    const { client, model } = await arrange([calls(ASK), 'Red it is.']);
    say(client);
    await run(client);
    answer(client, 'call_1', 'red');
    const asked = [...client.messages];
    await run(client);

    client.setMessages(asked);

    await expect(run(client)).rejects.toThrow('HTTP 409: No tool call waits for a result.');
    expect(model.requests).toHaveLength(2);
  });

  test('results that are larger than `maxBodyBytes` together', async () => {
    const { handler, client } = await arrange([calls(ASK, ASK), 'Both.'], { maxBodyBytes: 10_000 });
    say(client);
    await run(client);
    const result = (id: string) => ({ id, role: 'tool', toolCallId: id, content: 'x'.repeat(6_000) });
    const body = (messages: object[]) => ({ threadId: 't1', runId: 'r', messages });

    const both = await post(handler, '', body([result('call_1'), result('call_2')]));
    const more = await post(handler, '', body([result('a'), result('b'), result('call_1')]));
    const repeated = await post(
      handler,
      '',
      body([result('a'), result('b'), { id: 'u', role: 'user', content: 'Hi' }]),
    );

    expect([both.status, more.status, repeated.status]).toEqual([413, 413, 200]);
    await repeated.text();
  });
});
