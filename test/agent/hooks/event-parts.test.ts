import { describe, expect, test } from 'vitest';
import { Agent, type AgentEvent, HookAction } from '../../../src/index.js';
import { calls, scriptedModel, streams } from '../../../src/testing/testing.js';
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

describe('a model that does not stream, or streams unknown parts,', () => {
  const content = [
    { type: 'reasoning', text: 'Hm' },
    { type: 'file', data: 'x', mediaType: 'text/plain' },
    { type: 'text', text: 'whole' },
    { type: 'text', text: '' },
  ] as const;

  test.each([
    ['no part', []],
    ['a part of an unknown type', [{ type: 'audio-delta', data: 'x' }]],
  ])('and emits %s: its text and reasoning are emitted whole before model-end', async (_title, parts) => {
    const agent = new Agent({
      model: {
        id: 'whole',
        async generate({ onPart }) {
          for (const part of parts) onPart?.(part as never);
          return { content, finishReason: 'stop', usage };
        },
      },
    });
    const events: string[] = [];

    for await (const event of agent.stream('go'))
      events.push('text' in event ? `${event.type} ${event.text}` : event.type);

    expect(events.filter((event) => !/^(run|turn)-/.test(event))).toEqual([
      ...['model-start', 'reasoning-delta Hm', 'text-delta whole', 'model-end'],
    ]);
  });
});

describe('late parts and progress', () => {
  test('of a model after its response are dropped, in the turn and after the run', async () => {
    let push: ((text: string) => void) | undefined;
    const agent = new Agent({
      model: {
        id: 'late',
        async generate({ onPart, messages }) {
          push = (text) => onPart?.({ type: 'text-delta', text });
          push('on time');
          const call = { type: 'tool-call', id: 'c1', name: 'work', input: {} } as const;
          const content = messages.length === 1 ? [call] : [{ type: 'text', text: 'on time' } as const];
          return { content, finishReason: 'stop', usage };
        },
      },
      tools: [toolOf('work', () => push?.('during the tool') ?? 'ok')],
    });
    const events = listenTo(agent);

    await agent.run('go');
    push?.('after the end');

    const texts = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []));
    expect(texts).toEqual(['on time', 'on time']);
    expect(events.at(-1)?.type).toBe('run-end');
  });

  test('of a model call that timed out are dropped', async () => {
    let push: (() => void) | undefined;
    const agent = new Agent({
      model: {
        id: 'late',
        generate({ onPart }) {
          push = () => onPart?.({ type: 'text-delta', text: 'late' });
          return new Promise(() => {});
        },
      },
      timeouts: { modelMs: 2 },
    });
    const events = listenTo(agent);

    await rejectionOf(agent.run('go'));
    push?.();

    expect(events.map(({ type }) => type)).not.toContain('text-delta');
  });

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

describe('holdStream', () => {
  test('emits the text after afterModel, as afterModel left it', async () => {
    const agent = new Agent({
      model: scriptedModel([streams(['my secret', ' is 42'])]),
      lifecycle: [
        {
          holdStream: true,
          afterModel: (response) => HookAction.modify({ ...response, content: [{ type: 'text', text: '[redacted]' }] }),
        },
      ],
    });
    const events: string[] = [];

    for await (const event of agent.stream('go')) {
      events.push(event.type === 'text-delta' ? `text ${event.text}` : event.type);
    }

    expect(events).toEqual([
      ...['run-start', 'turn-start', 'model-start', 'decision', 'text [redacted]', 'model-end', 'turn-end', 'run-end'],
    ]);
  });

  test('emits the replacement text instead of a response that a hook withheld', async () => {
    const agent = new Agent({
      model: scriptedModel([streams(['my secret'])]),
      lifecycle: [{ holdStream: true, afterModel: () => HookAction.respond('no') }],
    });
    const shown: unknown[] = [];

    for await (const event of agent.stream('go')) {
      if (event.type === 'text-delta' || event.type === 'model-end') shown.push(event);
    }

    expect(shown).toMatchObject([
      { type: 'model-end', response: undefined },
      { type: 'text-delta', text: 'no' },
    ]);
  });
});
