import { Agent, type AgentLifecycle } from 'keelson';
import { calls, type HookName, recorder, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { settled } from '../support/lifecycle/manual-clock.js';
import { add, addingModel, keepingLogger, POINTS } from '../support/lifecycle/sample-agent.js';

describe('the list of lifecycles', () => {
  it('S4-FR3.1, S4-NFR2.4: is empty by default, and has the registered lifecycles', () => {
    const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [a] });

    expect(new Agent({ model: scriptedModel([]) }).lifecycle).toEqual([]);
    agent.use(b);
    agent.withLifecycle(c);
    expect(agent.lifecycle).toEqual([a, b, c]);
    expect(agent.lifecycle[1]).toBe(b);
  });

  it('cannot be changed from outside', () => {
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [{ name: 'a' }] });
    (agent.lifecycle as AgentLifecycle[]).pop();
    const given: AgentLifecycle[] = [{ name: 'b' }];
    const other = new Agent({ model: scriptedModel([]), lifecycle: given });
    given.push({ name: 'late' });

    expect([agent.lifecycle.length, other.lifecycle.length]).toEqual([1, 1]);
  });
});

describe('the builder form', () => {
  it('S4-FR3.2: withLifecycle adds a lifecycle whose hooks are called', async () => {
    const record = recorder();
    const agent = new Agent({ model: scriptedModel(['done']) });

    await agent.withLifecycle(record.lifecycle('a', { only: ['beforeAgent'] })).run('Hello');

    expect(record.log).toEqual(['a.beforeAgent']);
  });

  // covers: S4-FR3.3, S4-FR3.4, S4-FR3.AC, S4-AC1
  it('can be chained and combined with `use` in any order', async () => {
    const record = recorder();
    const only = ['beforeAgent'] as const;
    const agent = new Agent({ model: scriptedModel(['done']) });
    const same = agent
      .withLifecycle(record.lifecycle('a', { only }))
      .on('run-start', record.listen)
      .withLifecycle(record.lifecycle('b', { only }))
      .withLifecycle(record.lifecycle('c', { only, priority: 60 }))
      .off('run-end', record.listen);

    await same.run('Hello');

    expect(same).toBe(agent);
    expect(record.log).toEqual(['run-start', 'c.beforeAgent', 'a.beforeAgent', 'b.beforeAgent']);
  });
});

describe('a lifecycle that is added during a run', () => {
  it('is used from the next run on, with its tools and its onInit', async () => {
    const record = recorder();
    const model = scriptedModel([calls('add', { a: 1, b: 2 }), 'done', 'done']);
    const agent = new Agent({ model, tools: [add] });
    agent.use({
      beforeModel: (_, run) => {
        if (run.turn === 1 && agent.lifecycle.length === 1) {
          agent.use(
            record.lifecycle('late', {
              only: ['onInit', 'beforeModel', 'afterAgent'],
              tools: [{ ...add, name: 'more' }],
            }),
          );
        }
      },
    });

    await agent.run('Hello');
    expect(record.log).toEqual([]);
    await agent.run('Hello');

    expect(record.log).toEqual(['late.onInit', 'late.beforeModel', 'late.afterAgent']);
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['add'],
      ['add'],
      ['add', 'more'],
    ]);
  });
});

/** A run whose first lifecycle removes the second at one hook point, at the first call. */
async function takeOutAt(point: (typeof POINTS)[number]) {
  const record = recorder();
  const agent = new Agent({ model: addingModel(), tools: [add], logger: keepingLogger() });
  let dispose: (() => void) | undefined;
  const remover = (_: unknown, next: unknown) => {
    dispose?.();
    return typeof next === 'function' ? next() : undefined;
  };
  agent.use({ priority: 90, [point]: remover } as AgentLifecycle);
  const only: readonly HookName[] = [...POINTS, 'onError'];
  dispose = agent.use(record.lifecycle('gone', { only }));
  agent.use(record.lifecycle('stays', { only }));
  const { text } = await agent.run('Hello');
  return { log: record.log, text, left: agent.lifecycle.length };
}

describe('a lifecycle that is removed during a run', () => {
  const before: Record<(typeof POINTS)[number], readonly string[]> = {
    beforeAgent: [],
    beforeModel: ['beforeAgent'],
    beforeToolSelection: ['beforeAgent', 'beforeModel'],
    wrapModelCall: ['beforeAgent', 'beforeModel', 'beforeToolSelection'],
    afterModel: ['beforeAgent', 'beforeModel', 'beforeToolSelection', 'wrapModelCall>', 'wrapModelCall'],
    wrapToolCall: [
      'beforeAgent',
      'beforeModel',
      'beforeToolSelection',
      'wrapModelCall>',
      'wrapModelCall',
      'afterModel',
    ],
    afterAgent: [
      ...['beforeAgent', 'beforeModel', 'beforeToolSelection', 'wrapModelCall>', 'wrapModelCall', 'afterModel'],
      ...['wrapToolCall>', 'wrapToolCall'],
      ...['beforeModel', 'beforeToolSelection', 'wrapModelCall>', 'wrapModelCall', 'afterModel'],
    ],
  };

  it.each(POINTS)('gets no more calls from %s on, and the others still do', async (point) => {
    const { log, text, left } = await takeOutAt(point);

    expect([text, left]).toEqual(['done', 2]);
    expect(log.filter((line) => line.includes('gone.'))).toEqual(
      before[point].map((hook) =>
        hook === 'wrapModelCall' || hook === 'wrapToolCall' ? `<gone.${hook}` : `gone.${hook}`,
      ),
    );
    expect(log.filter((line) => line.includes('stays.'))).toHaveLength(14);
  });

  it('finishes its running hook, in which `next` still works', async () => {
    const agent = new Agent({ model: scriptedModel(['done']) });
    const dispose = agent.use({
      wrapModelCall: async (_, next) => {
        dispose();
        await settled();
        const response = await next();
        return { ...response, content: [{ type: 'text', text: 'finished' }] };
      },
      afterAgent: () => 'never',
    });

    expect((await agent.run('Hello')).text).toBe('finished');
    expect(agent.lifecycle).toEqual([]);
  });

  it('finishes an asynchronous hook that removed it, and the value of the hook counts', async () => {
    const agent = new Agent({ model: scriptedModel(['done']) });
    const dispose = agent.use({
      beforeAgent: async () => {
        dispose();
        return 'changed';
      },
    });

    const { messages } = await agent.run('Hello');

    expect(messages[0]).toEqual({ role: 'user', content: 'changed' });
  });

  it('gets no onError', async () => {
    const record = recorder();
    const agent = new Agent({
      model: scriptedModel([
        () => {
          dispose();
          throw new TypeError('boom');
        },
      ]),
      logger: keepingLogger(),
    });
    const dispose = agent.use(record.lifecycle('gone', { only: ['beforeAgent', 'onError'] }));
    agent.use(record.lifecycle('stays', { only: ['beforeAgent', 'onError'] }));

    await agent.run('Hello').catch(() => {});

    expect(record.log).toEqual(['gone.beforeAgent', 'stays.beforeAgent', 'stays.onError']);
  });

  it('may be removed twice, and a second registration of the same object stays', async () => {
    const record = recorder();
    const part = record.lifecycle('twin', { only: ['beforeAgent'] });
    const agent = new Agent({ model: scriptedModel(() => 'done') });
    const dispose = agent.use(part);
    agent.use(part);

    await agent.run('Hello');
    dispose();
    dispose();
    await agent.run('Hello');

    expect(agent.lifecycle).toEqual([part]);
    expect(record.log).toEqual(['twin.beforeAgent', 'twin.beforeAgent', 'twin.beforeAgent']);
  });
});
