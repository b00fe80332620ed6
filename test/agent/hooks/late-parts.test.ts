import { Agent, type AgentEvent } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { pause, rejectionOf } from '../../support/agent/settle.js';

const TYPES = [
  ...(['run-start', 'run-end', 'turn-end', 'text-delta', 'reasoning-delta', 'model-end'] as const),
  ...(['tool-start', 'tool-delta', 'tool-end'] as const),
];

function listenTo(agent: Agent): AgentEvent[] {
  const events: AgentEvent[] = [];
  for (const type of TYPES) agent.on(type, (event) => void events.push(event));
  return events;
}

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

describe('late parts and progress', () => {
  test('of a model call that a hook abandoned to return its own answer are dropped after model-end', async () => {
    let push: (() => void) | undefined;
    const call = { type: 'tool-call', id: 'c1', name: 'work', input: {} } as const;
    const agent = new Agent({
      model: {
        id: 'slow',
        generate({ onPart }) {
          push = () => onPart?.({ type: 'text-delta', text: 'late' });
          return new Promise(() => {});
        },
      },
      tools: [toolOf('work', () => push?.() ?? 'ok')],
      maxTurns: 1,
      lifecycle: [
        {
          wrapModelCall: (_request, next) =>
            Promise.race([
              next(),
              pause(1).then(() => ({ content: [call], finishReason: 'tool-calls', usage }) as const),
            ]),
        },
      ],
    });
    const events = listenTo(agent);

    await rejectionOf(agent.run('go'));

    expect(events.map(({ type }) => type)).toContain('tool-end');
    expect(events.map(({ type }) => type)).not.toContain('text-delta');
  });

  test('of a tool call that a hook abandoned to return its own result are dropped after tool-end', async () => {
    let report: (() => void) | undefined;
    const slow = toolOf('slow', (_input, context) => {
      report = () => context.progress('late');
      return new Promise(() => {});
    });
    const late = toolOf('late', async () => {
      await pause(5);
      report?.();
      return 'ok';
    });
    const agent = new Agent({
      model: scriptedModel([calls({ name: 'slow' }, { name: 'late' }), 'done']),
      tools: [slow, late],
      lifecycle: [
        {
          wrapToolCall: ({ name }, next) =>
            name === 'slow' ? Promise.race([next(), pause(1).then(() => ({ content: 'too slow' }))]) : next(),
        },
      ],
    });
    const events = listenTo(agent);

    await agent.run('go');

    expect(report).toBeDefined();
    expect(events.map(({ type }) => type)).not.toContain('tool-delta');
  });

  test.each(['abort', 'time-out'])('of a tool are dropped once its call has its result: %s', async (how) => {
    const controller = new AbortController();
    let report: (() => void) | undefined;
    const deaf = toolOf('deaf', (_input, context) => {
      report = () => context.progress('late');
      return new Promise(() => {});
    });
    const tools = [how === 'abort' ? deaf : { ...deaf, timeoutMs: 2 }];
    const agent = new Agent({ model: scriptedModel([calls('deaf'), 'done']), tools });
    const events = listenTo(agent);

    const running = agent.run('go', { signal: controller.signal }).catch(() => {});
    await pause(2);
    if (how === 'abort') controller.abort();
    await running;
    report?.();

    expect(events.map(({ type }) => type)).not.toContain('tool-delta');
    expect(events.at(-1)?.type).toBe('run-end');
  });
});
