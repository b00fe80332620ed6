import { Agent, type AgentLifecycle, HookAction, type Tool } from 'keelson';
import { calls, fails, faultyTool, recorder, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';

describe('a recorder', () => {
  it('logs every hook of a run in order', async () => {
    const record = recorder();
    const agent = new Agent({
      model: scriptedModel([calls('deaf-ear'), 'done']),
      lifecycle: [record.lifecycle('a'), record.lifecycle('b', { priority: 90 })],
    });

    const { text } = await agent.run('Hello');
    await agent.close();

    expect(text).toBe('done');
    expect(record.log).toEqual([
      ...['b.onInit', 'a.onInit', 'b.beforeAgent', 'a.beforeAgent'],
      ...['b.beforeModel', 'a.beforeModel', 'b.beforeToolSelection', 'a.beforeToolSelection'],
      ...[
        'b.wrapModelCall>',
        'a.wrapModelCall>',
        '<a.wrapModelCall',
        '<b.wrapModelCall',
        'b.afterModel',
        'a.afterModel',
      ],
      ...['b.wrapToolCall>', 'a.wrapToolCall>', '<a.wrapToolCall', '<b.wrapToolCall'],
      ...['b.beforeModel', 'a.beforeModel', 'b.beforeToolSelection', 'a.beforeToolSelection'],
      ...[
        'b.wrapModelCall>',
        'a.wrapModelCall>',
        '<a.wrapModelCall',
        '<b.wrapModelCall',
        'b.afterModel',
        'a.afterModel',
      ],
      ...['b.afterAgent', 'a.afterAgent', 'a.onShutdown', 'b.onShutdown'],
    ]);
  });

  it('logs the hooks of a session', async () => {
    const record = recorder();
    const only = ['onSessionStart', 'onSessionEnd', 'beforeAgent'] as const;
    const agent = new Agent({ model: scriptedModel('ok'), lifecycle: [record.lifecycle('a', { only })] });

    const session = await agent.session();
    await session.run('Hello');
    await session.close();

    expect(record.log).toEqual(['a.onSessionStart', 'a.beforeAgent', 'a.onSessionEnd']);
  });

  it('logs that a wrap threw and that the run failed', async () => {
    const record = recorder();
    const only = ['wrapModelCall', 'onError'] as const;
    const agent = new Agent({ model: scriptedModel([fails()]), lifecycle: [record.lifecycle('a', { only })] });

    await expect(agent.run('Hello')).rejects.toMatchObject({ code: 'ERR_MODEL_FAILED' });

    expect(record.log).toEqual(['a.wrapModelCall>', '<a.wrapModelCall threw', 'a.onError']);
  });

  it('runs the given hooks after logging them', async () => {
    const record = recorder();
    const gate = record.lifecycle('gate', {
      priority: 90,
      beforeAgent: () => HookAction.respond('closed'),
      only: ['beforeAgent', 'afterAgent'],
    });
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [record.lifecycle('audit'), gate] });

    const { text, decisions } = await agent.run('Hello');

    expect([text, decisions]).toEqual(['closed', [expect.objectContaining({ type: 'respond', by: 'gate' })]]);
    expect(record.log).toEqual(['audit.onInit', 'gate.beforeAgent', 'gate.afterAgent']);
  });

  it('logs an existing lifecycle, and keeps its `this` and its settings', async () => {
    class Counter implements AgentLifecycle {
      readonly priority = 90;
      readonly tools = [faultyTool('throws')];
      count = 0;
      wrapModelCall: AgentLifecycle['wrapModelCall'] = (_request, next) => {
        this.count += 1;
        return next();
      };
      wrapToolCall: AgentLifecycle['wrapToolCall'] = async () => {
        this.count += 1;
        return { content: 'answered' };
      };
      afterAgent(result: string): string {
        return `${result} after ${this.count}`;
      }
    }
    const record = recorder();
    const model = scriptedModel([calls('throws'), 'done']);
    const agent = new Agent({ model, lifecycle: [record.lifecycle('counter', new Counter())] });

    expect((await agent.run('Hello')).text).toBe('done after 3');
    expect(model.requests[0]?.tools.map((tool) => tool.name)).toEqual(['throws']);
    expect(agent.lifecycle[0]?.priority).toBe(90);
    expect(record.log.filter((line) => line.includes('wrapToolCall'))).toEqual([
      'counter.wrapToolCall>',
      '<counter.wrapToolCall',
    ]);
  });

  it('logs the events of an agent between the hooks, with deltas if requested', async () => {
    const record = recorder();
    const lifecycle = [record.lifecycle('a', { only: ['beforeModel', 'afterModel'] })];
    const agent = new Agent({ model: scriptedModel('Hi'), lifecycle });

    record.listenTo(agent, { deltas: true });
    await agent.run('Hello');

    expect(record.log).toEqual([
      ...['run-start', 'turn-start', 'a.beforeModel', 'model-start', 'text-delta', 'text-delta', 'a.afterModel'],
      ...['model-end', 'turn-end', 'run-end'],
    ]);
  });

  it('leaves out deltas by default', async () => {
    const record = recorder();
    const agent = new Agent({ model: scriptedModel('Hi') });

    record.listenTo(agent);
    await agent.run('Hello');

    expect(record.log).toEqual(['run-start', 'turn-start', 'model-start', 'model-end', 'turn-end', 'run-end']);
    expect(record.events.at(-1)).toMatchObject({ type: 'run-end', result: { text: 'Hi' } });
  });

  it('records single events of a listener and of a stream, and clears them', async () => {
    const record = recorder();
    const agent = new Agent({ model: scriptedModel('Hi') });

    agent.on('model-end', record.listen);
    await agent.run('Hello');
    expect([record.log, record.events.length]).toEqual([['model-end'], 1]);

    record.clear();
    expect([record.log, record.events]).toEqual([[], []]);
    agent.off('model-end', record.listen);
    for await (const event of agent.stream('Hello')) record.listen(event);
    expect(record.log[0]).toBe('run-start');
    expect(record.log.at(-1)).toBe('run-end');
  });
});

describe('a faulty tool', () => {
  it.each([
    ['throws', { content: 'The tool failed as scripted.', isError: true }],
    ['gives-no-json', { content: expect.stringContaining('of type function'), isError: true }],
    ['hangs', { content: expect.stringContaining('20 ms'), isError: true }],
    ['deaf', { content: expect.stringContaining('20 ms'), isError: true }],
  ] as const)('that %s becomes an error result', async (fault, result) => {
    const model = scriptedModel([calls(fault), 'done']);
    const agent = new Agent({ model, tools: [faultyTool(fault)], timeouts: { toolMs: 20 } });

    const { messages } = await agent.run('Hello');

    expect(messages[2]?.content).toEqual([{ type: 'tool-result', id: 'call_1', name: fault, ...result }]);
  });

  it('hangs until its signal aborts, even if it was aborted before', async () => {
    const execute = faultyTool('hangs', 'slow').execute as NonNullable<Tool['execute']>;
    const controller = new AbortController();
    const context = { signal: controller.signal } as Parameters<typeof execute>[1];

    const running = execute({}, context);
    controller.abort('stop');

    await expect(running).rejects.toBe('stop');
    await expect(execute({}, context)).rejects.toBe('stop');
  });
});
