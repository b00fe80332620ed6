import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Agent, type AgentLifecycle, type LoaderHost } from 'keelson';
import { type ExtensionInput, ExtensionRegistry } from 'keelson/extension';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { echo } from '../support/agent/sample-tools.js';
import { gate, rejectionOf, unhandledDuring, until } from '../support/agent/settle.js';
import { lab, recordingLogger } from '../support/extension/lab.js';

const hang = () => new Promise<never>(() => {});

test("each log message of a callback starts with the extension's id", async () => {
  const { agent, logger } = lab([
    {
      id: 'talker',
      onLlmOutput(_text, { logger: log }) {
        for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]('hello', { level });
      },
    },
  ]);
  await agent.run('go');

  expect(logger.records.filter(({ message }) => message.endsWith('hello'))).toEqual(
    ['debug', 'info', 'warn', 'error'].map((level) => ({
      level,
      message: 'Extension "talker": hello',
      details: { level },
    })),
  );
});

describe('a callback that hangs', () => {
  const members: Readonly<Record<string, Partial<ExtensionInput>>> = {
    onInputMessages: { onInputMessages: hang },
    onLlmOutput: { onLlmOutput: hang },
    onTag: { tags: 't', onTag: hang },
    onPlainText: { onPlainText: hang },
    condition: { promptAdditions: [{ position: 'system_prefix', content: 'x', condition: hang }] },
  };

  test.each(Object.entries(members))('in %s is ignored after its time limit', async (name, member) => {
    const clock = fakeClock();
    const { agent, logger } = lab([{ id: 'slow', ...member }], {
      script: () => 'a<t>b</t>',
      registry: { timeoutMs: 70 },
      agent: { clock },
    });
    const run = agent.run('go');
    let text: string | undefined;
    const done = run.then((result) => {
      text = result.text;
    });
    await until(() => {
      if (clock.pending() > 0) clock.advance(70);
      return text !== undefined;
    });

    await done;

    expect(text).toBe('a<t>b</t>');
    expect(new Set(clock.delays)).toEqual(new Set([70]));
    expect(clock.pending()).toBe(0);
    expect(logger.records.filter(({ level }) => level === 'error').map(({ message }) => message)[0]).toMatch(
      new RegExp(
        `^Extension "slow": ${name} failed in session ".*": The ${name} of extension "slow" took longer than 70 ms`,
      ),
    );
  });

  test.each(Object.entries(members))('in %s does not delay the abort of its run', async (_name, member) => {
    const controller = new AbortController();
    const { agent, logger } = lab(
      [
        { id: 'slow', ...member },
        { id: 'next', onPlainText: () => 'never' },
      ],
      {
        script: () => 'a<t>b</t>',
      },
    );
    const run = agent.run('go', { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 5);

    expect(await rejectionOf(run)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(logger.records.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('gets an aborted signal, and its state methods reject', async () => {
    const codes: unknown[] = [];
    const { agent } = lab(
      [
        {
          id: 'slow',
          async onLlmOutput(_output, { signal, setState }) {
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
            codes.push((signal.reason as { code: string }).code);
            await setState('k', 1).catch((error) => codes.push(error.code));
            return 'late';
          },
        },
      ],
      { registry: { timeoutMs: 5 } },
    );
    const { text } = await agent.run('go');
    await until(() => codes.length === 2);

    expect(text).toBe('Aye.');
    expect(codes).toEqual(['ERR_TIMEOUT', 'ERR_EXTENSION_EXPIRED']);
  });

  test('does not keep the agent from closing', async () => {
    const { agent } = lab([{ id: 'slow', onLlmOutput: hang }]);
    const run = agent.run('go');
    await new Promise((resolve) => setTimeout(resolve, 5));
    const rejection = rejectionOf(run);
    await agent.close();

    expect(await rejection).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  });
});

test('an abort inside a callback ends the run, and no later callback is called', async () => {
  const controller = new AbortController();
  const log: string[] = [];
  const { agent, logger } = lab([
    {
      id: 'a',
      onLlmOutput() {
        controller.abort();
        throw new Error('boom');
      },
    },
    { id: 'b', onLlmOutput: () => void log.push('b') },
  ]);

  expect(await rejectionOf(agent.run('go', { signal: controller.signal }))).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect({ log, errors: logger.records.filter(({ level }) => level === 'error') }).toEqual({ log: [], errors: [] });
});

test('a callback that rejects after its time limit causes no unhandled rejection', async () => {
  const late = () => new Promise<never>((_resolve, reject) => setTimeout(() => reject(new Error('late')), 8));
  const { agent } = lab([{ id: 'x', onInputMessages: late, onLlmOutput: late }], { registry: { timeoutMs: 2 } });

  expect(await unhandledDuring(async () => agent.run('go'))).toEqual([]);
});

describe('the lifecycle of a registry', () => {
  const additions: ExtensionInput['promptAdditions'] = [{ position: 'system_prefix', content: 'x' }];

  /** Returns the hook names of the lifecycle that a registry adds to an agent. */
  function hooksOf(...extensions: readonly ExtensionInput[]): readonly string[] {
    const used: AgentLifecycle<never>[] = [];
    const registry = new ExtensionRegistry({ tools: ['echo'] });
    for (const extension of extensions) registry.register(extension);
    const { signal } = new AbortController();
    registry.load({
      ...{
        agent: 'a',
        signal,
        tools: () => [],
        toolPrefixes: () => [],
        generate: () => Promise.reject(),
        logger: console,
      },
      closeAgent: () => Promise.reject(),
      use(lifecycle) {
        used.push(lifecycle);
        return () => {};
      },
    });
    expect(used.length).toBeLessThanOrEqual(1);
    const members = Object.entries(used[0] ?? {});
    return members.filter(([, member]) => typeof member === 'function').map(([name]) => name);
  }

  test('has only the hooks that its extensions need', () => {
    const ends = ['afterAgent', 'onError'];
    expect(hooksOf()).toEqual([]);
    expect(hooksOf({ id: 'a' })).toEqual([]);
    expect(hooksOf({ id: 'a', promptAdditions: additions })).toEqual(['wrapModelCall']);
    expect(hooksOf({ id: 'a', toolConfig: { toolOrder: ['echo'] } })).toEqual(['wrapModelCall']);
    expect(hooksOf({ id: 'a', toolConfig: { avoidedTools: ['echo'] } })).toEqual([
      'wrapModelCall',
      'beforeToolSelection',
    ]);
    expect(hooksOf({ id: 'a', onInputMessages: () => {} })).toEqual(['beforeModel', ...ends]);
    expect(hooksOf({ id: 'a', onPlainText: () => {} })).toEqual(['holdStream', 'afterModel', ...ends]);
    expect(hooksOf({ id: 'a', onLlmOutput: () => {} }, { id: 'b', promptAdditions: additions })).toEqual([
      ...['wrapModelCall', 'holdStream', 'afterModel'],
      ...ends,
    ]);
  });

  test('is a single lifecycle at priority 50, and is removed with the last extension', async () => {
    const { registry, agent } = lab([]);
    await agent.ready();
    const names = () => agent.status().lifecycles.map(({ name, priority }) => `${name} ${priority}`);
    const counts = [names()];
    registry.register({ id: 'a', promptAdditions: additions });
    counts.push(names());
    registry.register({ id: 'b', onLlmOutput: () => {} });
    counts.push(names());
    await registry.unregister('a');
    await registry.unregister('b');
    counts.push(names());

    expect(counts).toEqual([[], ['extensions 50'], ['extensions 50'], []]);
  });

  test('keeps its position and its current runs when it needs other hooks', async () => {
    const log: string[] = [];
    const registry = new ExtensionRegistry();
    registry.register({ id: 'a', onLlmOutput: (output) => void log.push(`a ${output}`) });
    const model = scriptedModel([calls('echo', { text: 'x' }), says('1'), says('2')]);
    const join = () => void registry.register({ id: 'b', onInputMessages: () => void log.push('b') });
    const agent = new Agent({ model, loaders: [registry], tools: [{ ...echo, execute: () => String(join()) }] });
    await agent.ready();
    agent.use({ name: 'after', afterModel: () => void log.push('after') });
    await agent.run('go');
    await agent.run('go');

    expect(log).toEqual(['a ', 'after', 'a 1', 'after', 'b', 'a 2', 'after']);
    expect(agent.status().lifecycles.map(({ name }) => name)).toEqual(['extensions', 'after']);
  });

  test('does not change during a run: a new extension acts from the next run on', async () => {
    const log: string[] = [];
    const { registry, agent } = lab([{ id: 'a', onLlmOutput: () => void log.push('a') }], {
      script: () => {
        if (registry.get('b') === undefined) registry.register({ id: 'b', onLlmOutput: () => void log.push('b') });
        return 'Aye.';
      },
    });
    await agent.run('go');
    await agent.run('go');

    expect(log).toEqual(['a', 'a', 'b']);
  });

  test('of unregistered extensions is not kept in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { registry, agent } = lab([], { registry: { logger: recordingLogger() } });
    await agent.ready();
    const callbacks: WeakRef<() => void>[] = [];
    for (let count = 0; count < 20; count += 1) {
      const onPlainText = () => {};
      callbacks.push(new WeakRef(onPlainText));
      registry.register({ id: 'x', onPlainText });
      await registry.unregister('x');
    }
    await until(() => {
      collect();
      // The last callback may still be referenced from the stack.
      return callbacks.filter((callback) => callback.deref() !== undefined).length <= 1;
    });

    expect(agent.status().lifecycles).toEqual([]);
  });

  test('is not added to an agent that was closed while it was loading', async () => {
    const { pass, open } = gate();
    const registry = new ExtensionRegistry();
    const slow = { name: 'slow', load: pass };
    const agent = new Agent({ model: scriptedModel(() => 'Aye.'), loaders: [slow, registry] });
    const ready = agent.ready().catch(() => {});
    const closed = agent.close();
    open();
    await Promise.all([ready, closed]);

    expect(() => registry.register({ id: 'a', onPlainText: () => {} })).not.toThrow();
  });

  test('does not keep an unreferenced agent in memory, also if the agent was not closed', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const registry = new ExtensionRegistry();
    registry.register({ id: 'a', onPlainText: () => {} });
    const make = async () => {
      const model = scriptedModel(() => 'Aye.', { record: false });
      await new Agent({ model, loaders: [registry] }).run('go');
      return new WeakRef(model);
    };
    const models = await Promise.all(Array.from({ length: 20 }, make));
    await until(() => {
      collect();
      return models.every((model) => model.deref() === undefined);
    });

    expect(() => registry.register({ id: 'b', onInputMessages: () => {} })).not.toThrow();
  });

  test('reaches an agent that is still in use after a garbage collection', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { registry, agent } = lab([{ id: 'a', onPlainText: (text) => `${text}a` }]);
    await agent.run('go');
    // A weak reference that was read stays strong until the current task ends.
    await setImmediate();
    collect();
    registry.register({ id: 'b', onPlainText: (text) => `${text}b` });

    expect((await agent.run('go')).text).toBe('Aye.ab');
  });

  test('of a registry forgets a closed agent', () => {
    const { registry, logger } = lab([{ id: 'a', onPlainText: () => {} }]);
    const closing = new AbortController();
    let reads = 0;
    const host = {
      agent: 'closed',
      logger,
      tools: () => [],
      toolPrefixes: () => [],
      use: () => () => {},
      get signal() {
        reads += 1;
        return closing.signal;
      },
    };
    registry.load(host as Partial<LoaderHost> as LoaderHost);
    closing.abort();
    registry.register({ id: 'b', onPlainText: () => {} });
    const readsUntilForgotten = reads;
    registry.register({ id: 'c', onPlainText: () => {} });

    expect(reads).toBe(readsUntilForgotten);
  });

  test('serves several agents, and a closed agent does not affect the others', async () => {
    const { registry, agent } = lab([]);
    const other = new Agent({ model: scriptedModel(() => 'Two.'), loaders: [registry] });
    await Promise.all([agent.ready(), other.ready()]);
    registry.register({ id: 'a', onPlainText: (text) => `${text}!` });
    const texts = [(await agent.run('go')).text, (await other.run('go')).text];
    await other.close();
    registry.register({ id: 'b', onInputMessages: () => {} });

    expect(texts).toEqual(['Aye.!', 'Two.!']);
    expect((await agent.run('go')).text).toBe('Aye.!');
  });
});
