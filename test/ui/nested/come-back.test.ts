import { type AgentLifecycle, type AgentOptions, HookAction, MemorySessionStore } from 'keelson';
import { calls, fails, says } from 'keelson/testing';
import {
  type AgentHandlerOptions,
  type AgUIMessage,
  createAgentHandler,
  MemoryRunLog,
  type SSEEvent,
} from 'keelson/ui';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { agUIClient } from '../../support/ui/ag-ui-client.js';
import { ChatClient, loadHistory, post } from '../../support/ui/chat-client.js';
import { agentOf, drawnRuns, helperOf, prompt } from '../../support/ui/nested-agents.js';
import { type ReadSSE, readSSE } from '../../support/ui/read-sse.js';

/** A chat whose helper works until `held` opens, behind the handlers of two processes. */
function chat(options: Partial<AgentHandlerOptions> = {}, boss: Partial<AgentOptions> = {}) {
  const held = gate();
  const work = toolOf('work', () => held.pass().then(() => 'worked'));
  const script = [says('I work.', { calls: [{ name: 'work', id: 'w' }] }), 'I worked.'];
  const store = new MemorySessionStore();
  const all = { authorize: 'none', session: (id: string) => id, runLog: new MemoryRunLog(), ...options } as const;
  const handlerOf = () => {
    const tools = [helperOf('helper', script, { tools: [work] })];
    return createAgentHandler(
      agentOf('boss', [calls({ name: 'helper', id: 'h', input: prompt }), 'Done.'], { tools, store, ...boss }),
      all,
    );
  };
  return { held, store, here: handlerOf(), there: handlerOf() };
}

const working = ['h helper running', '  1: I work.', '  1: work w running {}'];
const worked = ['h helper completed', '  1: I work.', '  1: work w done {} "worked"', '  2: I worked.'];

test('a page that comes back sees the run inside of a call that runs, in another process too', async () => {
  const { held, here, there } = chat();
  const first = new ChatClient(here);
  const sending = first.sendMessage({ text: 'Go.' });
  await until(() => held.arrived === 1);
  const back = new ChatClient(there);
  back.messages = (await loadHistory(there)).messages;
  const resuming = back.resumeStream();
  await until(() => (back.lastMessage?.parts.length ?? 0) === 4);

  expect(drawnRuns(back.lastMessage?.parts ?? [])).toEqual(working);
  held.open();
  await Promise.all([sending, resuming]);
  for (const page of [first, back]) expect(drawnRuns(page.lastMessage?.parts ?? [])).toEqual(worked);
  expect(back.lastMessage?.parts).toEqual(first.lastMessage?.parts);
});

test('plain events inside of a call continue behind the `Last-Event-ID` of the outermost run', async () => {
  const { held, here, there, store } = chat({ protocol: 'sse' });
  const whole = readSSE(await post(here, '', { id: 'chat', message: 'Go.' }));
  await until(() => held.arrived === 1);
  const run = (await store.load('chat'))?.holder?.run;
  const headers = { 'last-event-id': `${run}:12` };
  const rest = await there(new Request('http://localhost/api/chat/stream?id=chat', { headers }));
  held.open();

  const all = await whole;
  // Waiting deltas are joined.
  const isInside = ({ event, data }: ReadSSE) => event !== 'text-delta' && (data as SSEEvent).path !== undefined;
  const later = (await readSSE(rest)).filter(isInside);
  const expected = all.filter((event) => Number(event.id.split(':')[1]) > 12 && isInside(event));
  expect(later.map(({ event }) => event)).toEqual(expected.map(({ event }) => event));
  expect(later[0]).toMatchObject({ event: 'tool-start', data: { name: 'work', path: ['h'] } });
});

test('a snapshot of all AG-UI messages has the runs inside, under the ids that the client knows', async () => {
  const censor: AgentLifecycle = {
    afterModel: ({ content, ...response }) =>
      content.some(({ type }) => type === 'tool-call')
        ? undefined
        : HookAction.modify({ ...response, content: [{ type: 'text', text: 'Censored.' }] }),
  };
  const { held, here } = chat({ protocol: 'ag-ui' }, { lifecycle: [censor] });
  held.open();
  const { client, run } = agUIClient(here, [{ id: 'q', role: 'user', content: 'Go.' }]);
  const { events } = await run();
  const activities = client.messages.flatMap((one) =>
    one.role === 'activity' ? [{ type: one.activityType, data: one.content }] : [],
  );

  expect(events.map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT');
  expect(drawnRuns(activities)).toEqual(worked);
});

test.each(['ai-sdk', 'ag-ui'] as const)(
  'a page of %s that is loaded later sees why a run inside failed',
  async (protocol) => {
    const tools = [helperOf('helper', [fails('no line')], { logger: keepingLogger() })];
    const script = [calls({ name: 'helper', id: 'h', input: prompt }), 'Done.'];
    const boss = agentOf('boss', script, { tools, store: new MemorySessionStore() });
    const errorText = (error: unknown) => `Broken: ${(error as Error).message}`;
    const options = { authorize: 'none', session: (id: string) => id, errorText } as const;
    const page = new ChatClient(createAgentHandler(boss, options));
    await page.sendMessage({ text: 'Go.' });
    const drawn = ['h helper failed Broken: Model "scripted" failed: no line'];

    expect(drawnRuns(page.lastMessage?.parts ?? [])).toEqual(drawn);
    const { messages } = await loadHistory(createAgentHandler(boss, { ...options, protocol }));
    const activities = (messages as unknown as AgUIMessage[]).flatMap((one) =>
      one.role === 'activity' ? [{ type: one.activityType, data: one.content }] : [],
    );
    expect(drawnRuns(protocol === 'ag-ui' ? activities : messages.flatMap(({ parts }) => parts))).toEqual(drawn);
  },
);
