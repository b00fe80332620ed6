import {
  type ChatInit,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { Agent, type AgentLifecycle, defineTool, HookAction, MemorySessionStore } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../support/agent/sample-tools.js';
import { aborted, gate, until } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';

const askColour = defineTool({
  name: 'askColour',
  description: 'Asks the person for a colour.',
  input: z.object({ shades: z.number() }),
});
const ASK = { name: 'askColour', input: { shades: 3 } };

type Script = Parameters<typeof scriptedModel>[0];

/** A chat whose tool `askColour` runs on the page. `pay` waits for approval. */
function arrange(script: Script, options: Partial<AgentHandlerOptions> = {}) {
  const paid: string[] = [];
  const pay = toolOf('pay', () => void paid.push('paid') as never);
  const model = scriptedModel(script);
  const store = new MemorySessionStore();
  const tools = [askColour, pay, toolOf('look', () => 'seen')];
  const agent = new Agent({ model, store, tools, lifecycle: [approval({ tools: ['pay'] })] });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, ...options });
  return { paid, model, store, handler };
}
type Scene = ReturnType<typeof arrange>;

/** A page that runs `askColour` with `run`, and sends the results by itself. */
function pageOf({ handler }: Pick<Scene, 'handler'>, run: (input: unknown) => unknown = () => 'red') {
  const asked: string[] = [];
  const init: ChatInit<UIMessage> = {
    sendAutomaticallyWhen: (chat) =>
      lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat),
    onToolCall({ toolCall: { toolName, toolCallId, input } }) {
      if (toolName !== 'askColour') return;
      asked.push(toolCallId);
      const output = run(input);
      if (output !== undefined) void page.addToolOutput({ tool: 'askColour', toolCallId, output: output as never });
    },
  };
  const page = new ChatClient(handler, 'chat', init);
  return { page, asked };
}

/** The states of the tool calls of the last message, by call id. */
function statesIn(messages: readonly UIMessage[]) {
  const parts = messages.at(-1)?.parts ?? [];
  return Object.fromEntries(parts.flatMap((part) => ('toolCallId' in part ? [[part.toolCallId, part.state]] : [])));
}

const textsIn = (messages: readonly UIMessage[]) =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));

const modelRead = ({ model }: Scene, request = 1) => resultsIn(model.requests[request]?.messages ?? []);

describe('a tool that the page runs with `onToolCall`', () => {
  test('gets its arguments, and its output continues the answer', async () => {
    const scene = arrange([calls({ name: 'look' }, ASK), 'Red it is.']);
    const inputs: unknown[] = [];
    const { page } = pageOf(scene, (input) => {
      inputs.push(input);
      return { colour: 'red' };
    });

    await page.sendMessage({ text: 'Ask me.' });
    await until(() => textsIn(page.messages).includes('Red it is.') && page.status === 'ready');

    expect([inputs, page.errors]).toEqual([[{ shades: 3 }], []]);
    expect(modelRead(scene)).toEqual({ call_1: 'seen', call_2: '{"colour":"red"}' });
    expect(page.messages).toHaveLength(2);
    expect(statesIn(page.messages)).toEqual({ call_1: 'output-available', call_2: 'output-available' });
    const { messages, pending } = await loadHistory(scene.handler);
    expect([statesIn(messages), pending]).toEqual([statesIn(page.messages), []]);
    expect(messages.map(({ id }) => id)).toEqual(page.messages.map(({ id }) => id));
  });

  test('is shown as a call with its arguments, without a request for approval', async () => {
    const scene = arrange([calls(ASK), 'Red it is.']);
    const { page } = pageOf(scene, () => undefined);

    await page.sendMessage({ text: 'Ask me.' });

    expect(page.lastMessage?.parts.at(-1)).toEqual({
      ...{ type: 'tool-askColour', toolCallId: 'call_1', state: 'input-available', input: { shades: 3 } },
    });
    expect(page.lastMessage?.metadata).toMatchObject({ pending: ['call_1'] });
  });

  test('may fail', async () => {
    const scene = arrange([calls(ASK), 'Then not.']);
    const { page } = pageOf(scene, () => undefined);
    await page.sendMessage({ text: 'Ask me.' });

    const failed = { state: 'output-error', errorText: 'No screen.' } as const;
    await page.addToolOutput({ tool: 'askColour', toolCallId: 'call_1', ...failed });
    await until(() => textsIn(page.messages).includes('Then not.'));

    expect(modelRead(scene)).toEqual({ call_1: '!No screen.' });
  });

  test('may be called twice in one turn, and the model is asked again once both calls have an output', async () => {
    const scene = arrange([calls(ASK, ASK), 'Both.']);
    const { page } = pageOf(scene, () => undefined);
    await page.sendMessage({ text: 'Ask me twice.' });

    await page.addToolOutput({ tool: 'askColour', toolCallId: 'call_2', output: 'blue' });
    const early = await post(scene.handler, '', { id: 'chat', messages: page.messages });
    await early.text();
    const { pending } = await loadHistory(scene.handler);
    await page.addToolOutput({ tool: 'askColour', toolCallId: 'call_1', output: 'red' });
    await until(() => textsIn(page.messages).includes('Both.'));

    expect([early.status, pending]).toEqual([200, [expect.objectContaining({ id: 'call_1' })]]);
    expect(scene.model.requests).toHaveLength(2);
    expect(modelRead(scene)).toEqual({ call_1: 'red', call_2: 'blue' });
  });

  test('stands beside a call that waits for approval, and the answer goes on once both are answered', async () => {
    const scene = arrange([calls(ASK, { name: 'pay' }), 'Both.']);
    const { page } = pageOf(scene);
    await page.sendMessage({ text: 'Ask me, and pay.' });
    await until(() => page.status === 'ready');
    expect(statesIn(page.messages)).toEqual({ call_1: 'output-available', call_2: 'approval-requested' });
    expect(scene.model.requests).toHaveLength(1);

    await page.addToolApprovalResponse({ id: 'call_2', approved: true });
    await until(() => textsIn(page.messages).includes('Both.'));

    expect([page.errors, scene.paid, modelRead(scene).call_1]).toEqual([[], ['paid'], 'red']);
  });

  test('may be answered while another call keeps waiting for approval', async () => {
    const { send, handler, model, paid } = await waiting();

    await (await send({ call_1: red })).text();
    const { messages, pending } = await loadHistory(handler);
    const unpaid = [...paid];
    await (await send({ call_1: red, call_2: approved })).text();

    expect(statesIn(messages)).toMatchObject({ call_1: 'output-available', call_2: 'approval-requested' });
    expect(pending).toMatchObject([{ id: 'call_2' }]);
    expect([unpaid, paid]).toEqual([[], ['paid']]);
    expect(model.requests).toHaveLength(2);
  });

  test('is open after a reload, and its output continues the answer', async () => {
    const scene = arrange([calls({ name: 'look' }, ASK), 'Red it is.']);
    await pageOf(scene, () => undefined).page.sendMessage({ text: 'Ask me.' });

    const { messages, pending } = await loadHistory(scene.handler);
    const { page } = pageOf(scene);
    page.messages = messages;
    await page.addToolOutput({ tool: 'askColour', toolCallId: 'call_2', output: 'red' });
    await until(() => textsIn(page.messages).includes('Red it is.'));

    expect(pending).toEqual([{ id: 'call_2', ...ASK, reason: 'The caller runs "askColour".', needs: 'result' }]);
    expect(statesIn(messages)).toEqual({ call_1: 'output-available', call_2: 'input-available' });
    expect([page.errors, modelRead(scene).call_2]).toEqual([[], 'red']);
  });

  test('does not run again on a page that comes back while the answer goes on', async () => {
    const held = gate();
    const scene = arrange([calls(ASK), () => held.pass().then(() => 'Red it is.')]);
    const { page } = pageOf(scene);
    const sending = page.sendMessage({ text: 'Ask me.' });
    await until(() => held.arrived === 1);

    const back = pageOf(scene);
    back.page.messages = (await loadHistory(scene.handler)).messages;
    const loaded = statesIn(back.page.messages);
    const resuming = back.page.resumeStream();
    await until(() => back.page.status === 'streaming');
    held.open();
    await Promise.all([sending, resuming]);
    await until(() => page.status === 'ready');

    expect(loaded).toEqual({ call_1: 'output-available' });
    expect([back.asked, back.page.errors]).toEqual([[], []]);
    expect(textsIn(back.page.messages)).toEqual(['Ask me.', 'Red it is.']);
    expect(back.page.lastMessage?.parts.find((part) => 'toolCallId' in part)).toMatchObject({
      ...{ state: 'output-available', input: { shades: 3 }, output: 'red' },
    });
  });

  test('is denied if the person writes a message instead', async () => {
    const scene = arrange([calls(ASK), 'Never mind.']);
    const { page } = pageOf(scene, () => undefined);
    await page.sendMessage({ text: 'Ask me.' });

    await page.sendMessage({ text: 'Leave it.' });

    expect(modelRead(scene)).toEqual({ call_1: '!The call was denied: The person went on without a decision.' });
    expect(statesIn((await loadHistory(scene.handler)).messages.slice(0, 2))).toEqual({ call_1: 'output-denied' });
  });
});

/** A chat that waits for the output of `askColour` (`call_1`) and for the approval of `pay` (`call_2`). */
async function waiting(options: Partial<AgentHandlerOptions> = {}) {
  const scene = arrange([calls(ASK, { name: 'pay' }, { name: 'look' }), 'Both.'], options);
  const { page } = pageOf(scene, () => undefined);
  await page.sendMessage({ text: 'Ask me, and pay.' });
  const send = (states: Record<string, object>) => {
    const parts = page.lastMessage?.parts.map((part) => ({
      ...part,
      ...('toolCallId' in part ? states[part.toolCallId] : {}),
    }));
    return post(scene.handler, '', { id: 'chat', messages: [{ ...page.lastMessage, parts }] });
  };
  return { ...scene, send };
}
const red = { state: 'output-available', output: 'red' };
const approved = { state: 'approval-responded', approval: { id: 'call_2', approved: true } };

describe('refuses', () => {
  test.each<[string, Record<string, object>, string]>([
    ['the result of a server tool', { call_1: red, call_2: red }, 'ERR_UI_CALL_UNKNOWN'],
    [
      'an approval of a call that the page runs',
      { call_1: { ...approved, approval: { id: 'call_1', approved: true } }, call_2: approved },
      'ERR_UI_CALL_UNKNOWN',
    ],
    ['the result of an unknown call', { call_1: red, call_2: { ...red, toolCallId: 'call_9' } }, 'ERR_UI_CALL_UNKNOWN'],
  ])('%s', async (_title, states, code) => {
    const { send, handler, model, paid } = await waiting();

    const response = await send(states);

    expect([response.status, response.headers.get('keelson-error')]).toEqual([409, code]);
    expect((await loadHistory(handler)).pending).toMatchObject([{ id: 'call_1' }, { id: 'call_2' }]);
    expect([model.requests.length, paid]).toEqual([1, []]);
  });

  test('a second result of a call', async () => {
    const { send, model } = await waiting();
    await (await send({ call_1: red, call_2: approved })).text();

    const response = await send({ call_1: { ...red, output: 'blue' }, call_2: { state: 'output-available' } });

    expect([response.status, response.headers.get('keelson-error')]).toEqual([409, 'ERR_UI_CALL_UNKNOWN']);
    expect(model.requests).toHaveLength(2);
  });

  test('a result of a person who may not decide', async () => {
    const { send, handler } = await waiting({ mayDecide: () => false });

    const response = await send({ call_1: red, call_2: approved });

    expect([response.status, response.headers.get('keelson-error')]).toEqual([403, 'ERR_UI_DECISION_REFUSED']);
    expect((await loadHistory(handler)).pending).toEqual([{ id: 'call_1' }, { id: 'call_2' }]);
  });
});

test.each([
  ['was stopped during a tool call', true],
  ['ended with the result of a tool call', false],
])('a page that sends complete tool calls does not send an answer that %s', async (_title, stops) => {
  const held = gate();
  const ends: AgentLifecycle = {
    async wrapToolCall(call, next) {
      const result = await next(call);
      call.run.end(HookAction.respond(''));
      return result;
    },
  };
  const agent = new Agent({
    model: scriptedModel([calls('look')]),
    tools: [toolOf('look', (_input, { signal }) => (stops ? Promise.race([held.pass(), aborted(signal)]) : 'seen'))],
    lifecycle: stops ? [] : [ends],
  });
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id });
  const { page } = pageOf({ handler });

  const sending = page.sendMessage({ text: 'Look.' });
  if (stops) {
    await until(() => held.arrived === 1);
    await post(handler, '/stop', { id: 'chat' });
  }
  await sending;

  expect([page.errors, page.status, page.bodies.length]).toEqual([[], 'ready', 1]);
});
