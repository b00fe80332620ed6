import { Agent, type AgentEvent, type AgentLifecycle, HookAction } from 'keelson';
import { calls, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { rejectionOf } from '../support/agent/settle.js';

const TYPES = [
  ...(['run-start', 'run-error', 'run-end', 'turn-start', 'turn-end', 'model-start', 'text-delta'] as const),
  ...(['reasoning-delta', 'model-end', 'tool-start', 'tool-delta', 'tool-end', 'decision'] as const),
];

/** Collects every event of an agent, in order. */
function listenTo(agent: Agent): AgentEvent[] {
  const events: AgentEvent[] = [];
  for (const type of TYPES) agent.on(type, (event) => void events.push(event));
  return events;
}

const working = toolOf('work', (_input, context) => {
  context.progress('half');
  return 'worked';
});
const round = [says('Let me see.', { reasoning: 'Hm', calls: [{ name: 'work', input: { n: 1 } }] }), 'done'];
const withTool = (script: readonly ScriptEntry[] = round) =>
  new Agent({ name: 'a', model: scriptedModel(script), tools: [working] });
const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

describe('the events of a run', () => {
  const expected = (runId: string, result: unknown) => [
    { type: 'run-start', runId, agent: 'a', input: 'go' },
    { type: 'turn-start', runId, turn: 1 },
    { type: 'model-start', runId, turn: 1, model: 'scripted' },
    { type: 'reasoning-delta', runId, turn: 1, attempt: 1, text: 'H' },
    { type: 'reasoning-delta', runId, turn: 1, attempt: 1, text: 'm' },
    { type: 'text-delta', runId, turn: 1, attempt: 1, text: 'Let ' },
    { type: 'text-delta', runId, turn: 1, attempt: 1, text: 'me s' },
    { type: 'text-delta', runId, turn: 1, attempt: 1, text: 'ee.' },
    {
      type: 'model-end',
      runId,
      turn: 1,
      response: {
        content: [
          { type: 'reasoning', text: 'Hm' },
          { type: 'text', text: 'Let me see.' },
          { type: 'tool-call', id: 'call_1', name: 'work', input: { n: 1 } },
        ],
        finishReason: 'tool-calls',
        usage,
      },
    },
    { type: 'tool-start', runId, turn: 1, callId: 'call_1', name: 'work', input: { n: 1 } },
    { type: 'tool-delta', runId, turn: 1, callId: 'call_1', name: 'work', data: 'half' },
    { type: 'tool-end', runId, turn: 1, callId: 'call_1', name: 'work', result: { content: 'worked' } },
    { type: 'turn-end', runId, turn: 1 },
    { type: 'turn-start', runId, turn: 2 },
    { type: 'model-start', runId, turn: 2, model: 'scripted' },
    { type: 'text-delta', runId, turn: 2, attempt: 1, text: 'do' },
    { type: 'text-delta', runId, turn: 2, attempt: 1, text: 'ne' },
    {
      type: 'model-end',
      runId,
      turn: 2,
      response: { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage },
    },
    { type: 'turn-end', runId, turn: 2 },
    { type: 'run-end', runId, result },
  ];

  test('reach listeners of `on` in exactly this order', async () => {
    const agent = withTool();
    const events = listenTo(agent);

    const result = await agent.run('go');

    expect(events).toEqual(expected(events[0]?.runId as string, result));
  });

  test('reach the consumer of `stream` in exactly the same order', async () => {
    const events: AgentEvent[] = [];
    const stream = withTool().stream('go');

    for await (const event of stream) events.push(event);

    expect(events).toEqual(expected(events[0]?.runId as string, await stream.result));
  });

  test('reach both at the same time, also in a session', async () => {
    const agent = withTool();
    const heard = listenTo(agent);
    const events: AgentEvent[] = [];

    for await (const event of (await agent.session()).stream('go')) events.push(event);

    expect(events).toEqual(heard);
    expect(events.map(({ type }) => type)).toEqual(expected('', '').map(({ type }) => type));
  });

  test.each<[string, AgentLifecycle, string]>([
    ['beforeAgent responds', { beforeAgent: () => HookAction.respond('x') }, 'run-start decision run-end'],
    [
      'beforeModel rejects',
      { beforeModel: () => HookAction.reject('x') },
      'run-start turn-start decision turn-end run-error run-end',
    ],
    [
      'a call is suspended',
      { wrapToolCall: () => HookAction.suspend('x') },
      'run-start turn-start model-start model-end tool-start decision tool-end turn-end run-end',
    ],
  ])('have the decision of a hook in its place if %s', async (_title, lifecycle, types) => {
    const agent = withTool();
    agent.use(lifecycle);
    const events = listenTo(agent);

    await agent.run('go').catch(() => {});

    const seen = events.map(({ type }) => type).filter((type) => !type.endsWith('-delta'));
    expect(seen.join(' ')).toBe(types);
  });

  test('of a tool that throws have a start and an end with the error result', async () => {
    const agent = new Agent({
      model: scriptedModel([calls('bad'), 'done']),
      tools: [toolOf('bad', () => Promise.reject(new Error('broken')))],
    });
    const events = listenTo(agent);

    await agent.run('go');

    expect(events.filter(({ type }) => type.startsWith('tool-'))).toMatchObject([
      { type: 'tool-start', callId: 'call_1' },
      { type: 'tool-end', callId: 'call_1', result: { content: 'broken', isError: true } },
    ]);
  });

  test('are not emitted for a run that is refused before it starts', async () => {
    const agent = withTool();
    const events = listenTo(agent);

    await rejectionOf(agent.run('go', { maxTurns: 0 }));
    await rejectionOf(agent.run('go', { messages: [null as never] }));

    expect(events).toEqual([]);
  });

  test('of a resumed run have the resumed calls in turn 0', async () => {
    const agent = withTool(['done']);
    const call = { type: 'tool-call', id: 'c1', name: 'work', input: {} } as const;
    const events = listenTo(agent);

    await agent.run('', { messages: [{ role: 'assistant', content: [call] }], resume: { c1: 'approve' } });

    const turns = events.flatMap((event) => ('turn' in event ? [`${event.turn} ${event.type}`] : []));
    expect(turns.slice(0, 5)).toEqual(['0 turn-start', '0 tool-start', '0 tool-delta', '0 tool-end', '0 turn-end']);
  });
});
