import { Agent, HookAction } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { unhandledDuring } from '../support/agent/settle.js';
import { keepingLogger } from '../support/lifecycle/sample-agent.js';

/** An agent that counts the ids that it generates: events need ids, so a run without listeners generates none. */
function arrange() {
  const ids: string[] = [];
  const next = (kind: string) => `${kind}${ids.push(kind)}`;
  const logger = keepingLogger();
  return { ids, logger, agent: new Agent({ model: scriptedModel('done'), ids: { next }, logger }) };
}

describe('a listener of an agent', () => {
  test('of `once` gets one event', async () => {
    const { agent, ids } = arrange();
    const heard: unknown[] = [];
    agent.once('turn-start', (event) => void heard.push(event));

    await agent.run('go');
    await agent.run('go');

    expect(heard).toEqual([{ type: 'turn-start', runId: 'run1', turn: 1 }]);
    expect(ids).toEqual(['run']);
  });

  test('of `on` or `once` is removed by `off`, and the other listeners stay', async () => {
    const { agent, ids } = arrange();
    const heard: string[] = [];
    const a = () => void heard.push('a');
    const b = () => void heard.push('b');
    agent.on('turn-start', a).on('turn-start', b).once('turn-start', a);
    agent.off('turn-start', undefined as never);
    agent.off('turn-start', () => {});
    agent.off('turn-start', a);
    await agent.run('go');

    expect(heard).toEqual(['b']);
    agent.off('turn-start', b);
    await agent.run('go');
    expect(ids).toEqual(['run']);
  });

  test('that is added during an event gets the next event', async () => {
    const { agent } = arrange();
    const heard: string[] = [];
    agent.once('turn-start', () => void agent.once('turn-start', () => void heard.push('late')));
    agent.on('turn-start', () => void heard.push('early'));
    await agent.run('go');
    expect(heard).toEqual(['early']);
    await agent.run('go');

    expect(heard).toEqual(['early', 'early', 'late']);
  });

  test('that throws or rejects is logged, and affects neither the run nor the other listeners', async () => {
    const { agent, logger } = arrange();
    const heard: string[] = [];
    agent.on('model-end', () => {
      throw new TypeError('thrown');
    });
    agent.on('model-end', () => Promise.reject(new TypeError('rejected')));
    agent.on('model-end', () => void heard.push('heard'));

    const unhandled = await unhandledDuring(async () => {
      expect((await agent.run('go')).text).toBe('done');
    });

    expect(heard).toEqual(['heard']);
    expect(logger.lines).toEqual(Array(2).fill('error: A listener of "model-end" failed.'));
    expect(logger.details).toEqual([new TypeError('thrown'), new TypeError('rejected')]);
    expect(unhandled).toEqual([]);
  });

  test('of deltas makes the model stream, and a listener of other events does not', async () => {
    const model = scriptedModel('done');
    const agent = new Agent({ model });

    agent.on('run-end', () => {});
    await agent.run('go');
    agent.on('text-delta', () => {});
    await agent.run('go');

    expect(model.requests.map(({ onPart }) => typeof onPart)).toEqual(['undefined', 'function']);
  });

  test('is required for events: without a listener no event and no id is created', async () => {
    const { ids } = arrange();
    const agent = new Agent({
      model: scriptedModel([calls('work'), 'done']),
      tools: [toolOf('work', (_input, { progress }) => progress('half'))],
      ids: { next: (kind) => `${kind}${ids.push(kind)}` },
      lifecycle: [{ afterModel: () => HookAction.Approve }],
    });
    const listener = () => {};
    agent.on('run-end', listener).off('run-end', listener);

    await agent.run('go');

    expect(ids).toEqual([]);
  });
});
