import { Agent, type AgentLifecycle, type LifecycleLoader } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fastClock } from '../support/agent/fake-clock.js';
import { echo } from '../support/agent/sample-tools.js';
import { gate, LATE, pause, rejectionOf, until, within } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

const model = () => scriptedModel('done');

describe('loaders', () => {
  test('are loaded in order, one after another, before onInit and the first run', async () => {
    const log: string[] = [];
    const slow = (name: string, ms: number): LifecycleLoader => ({
      name,
      async load(host) {
        log.push(`${name}>`);
        await pause(ms);
        host.use({ name: `part of ${name}`, onInit: () => void log.push(`init ${name}`) });
        log.push(`<${name}`);
      },
    });
    const own: AgentLifecycle = {
      onInit: () => void log.push('init own'),
      beforeAgent: () => void log.push('run'),
    };
    const agent = new Agent({ model: model(), loaders: [slow('a', 3), slow('b', 0)], lifecycle: [own] });

    await Promise.all([agent.run('one'), agent.ready(), agent.run('two')]);

    expect(log).toEqual(['a>', '<a', 'b>', '<b', 'init own', 'init a', 'init b', 'run', 'run']);
    expect(agent.status().lifecycles.map(({ name }) => name)).toEqual(['lifecycle#1', 'part of a', 'part of b']);
  });

  test('that are listed twice are loaded and closed once', async () => {
    const log: string[] = [];
    const loader: LifecycleLoader = {
      name: 'a',
      load: () => void log.push('load'),
      close: () => void log.push('close'),
    };
    const agent = new Agent({ model: model(), loaders: [loader, loader] });

    await agent.run('one');
    await agent.close();

    expect(log).toEqual(['load', 'close']);
    expect(agent.status().loaders).toHaveLength(1);
  });

  test('get the name of the agent, its tools, its model and a signal', async () => {
    const seen: unknown[] = [];
    const agent = new Agent({
      name: 'mine',
      model: scriptedModel(['generated']),
      tools: [echo],
      loaders: [
        {
          name: 'looking',
          async load(host) {
            host.use({ tools: [{ ...echo, name: 'echo2' }] });
            const response = await host.generate({ messages: [{ role: 'user', content: 'x' }], tools: [] });
            seen.push(
              host.agent,
              host.tools().map(({ name }) => name),
              response.content,
              host.signal.aborted,
            );
          },
        },
      ],
    });

    await agent.ready();

    expect(seen).toEqual(['mine', ['echo', 'echo2'], [{ type: 'text', text: 'generated' }], false]);
  });

  test('can add lifecycles, ordered by priority, and tools', async () => {
    const agent = new Agent({
      model: scriptedModel([calls('echo', { text: 'hi' }), 'done']),
      loaders: [{ name: 'l', load: (host) => void host.use({ name: 'high', priority: 90, tools: [echo] }) }],
      lifecycle: [{ name: 'own' }],
    });

    const { messages } = await agent.run('go');

    expect(agent.status().lifecycles.map(({ name }) => name)).toEqual(['high', 'own']);
    expect(messages[2]).toMatchObject({ content: [{ content: 'hi' }] });
  });

  test('can remove a lifecycle with the function that use() returned', async () => {
    const log: string[] = [];
    let dispose: (() => void) | undefined;
    const agent = new Agent({
      model: model(),
      loaders: [
        {
          name: 'l',
          load(host) {
            dispose = host.use({ tools: [echo], beforeAgent: () => void log.push('run') });
          },
        },
      ],
    });

    await agent.run('one');
    dispose?.();
    dispose?.();
    await agent.run('two');

    expect(log).toEqual(['run']);
    expect([agent.status().lifecycles, agent.status().tools]).toEqual([[], []]);
  });
});

describe('a loader that fails', () => {
  const failing = (times: number, optional = false): LifecycleLoader & { calls: number } => ({
    name: 'shaky',
    optional,
    calls: 0,
    load(host) {
      this.calls += 1;
      host.use({ name: 'shaky part' });
      if (this.calls <= times) throw new Error('no such folder');
    },
  });

  test('rejects ready(), run() and stream() with a LoaderError, and is shown in status()', async () => {
    const touched: string[] = [];
    const agent = new Agent({
      model: model(),
      loaders: [failing(9)],
      lifecycle: [{ beforeAgent: () => void touched.push('run'), onInit: () => void touched.push('init') }],
    });

    const errors = [
      await rejectionOf(agent.ready()),
      await rejectionOf(agent.run('go')),
      await rejectionOf(agent.stream('go').result),
      await rejectionOf(agent.session()),
    ];

    for (const error of errors) {
      expect(error).toMatchObject({ code: 'ERR_LOADER_FAILED', loader: 'shaky', cause: { message: 'no such folder' } });
    }
    expect(agent.status().loaders).toEqual([{ name: 'shaky', state: 'failed', error: 'no such folder' }]);
    expect(touched).toEqual([]);
  });

  test('stops the later loaders, or is only logged if the loader is optional', async () => {
    const loaded: string[] = [];
    const next: LifecycleLoader = { name: 'next', load: () => void loaded.push('next') };
    const logger = keepingLogger();

    await rejectionOf(new Agent({ model: model(), loaders: [failing(9), next] }).ready());
    expect(loaded).toEqual([]);

    const agent = new Agent({ model: model(), loaders: [failing(9, true), next], logger });
    expect((await agent.run('go')).text).toBe('done');

    expect(loaded).toEqual(['next']);
    expect(logger.lines).toEqual(['error: Loader "shaky" failed: no such folder']);
    expect(agent.status().loaders).toEqual([
      { name: 'shaky', state: 'failed', error: 'no such folder' },
      { name: 'next', state: 'loaded' },
    ]);
  });

  test('is called again by the next run, and the loaded ones are not', async () => {
    const loads: string[] = [];
    const shaky = failing(1);
    const first: LifecycleLoader = { name: 'first', load: () => void loads.push('first') };
    const agent = new Agent({ model: model(), loaders: [first, shaky] });

    await rejectionOf(agent.run('go'));
    await agent.run('go');

    expect([loads, shaky.calls]).toEqual([['first'], 2]);
    expect(agent.status().loaders.map(({ state }) => state)).toEqual(['loaded', 'loaded']);
  });

  test('has its lifecycles removed, so that a second attempt does not add them twice', async () => {
    const agent = new Agent({ model: model(), loaders: [failing(1)] });
    await rejectionOf(agent.ready());
    const afterFailure = agent.status().lifecycles.length;
    await agent.ready();

    expect([afterFailure, agent.status().lifecycles.length]).toEqual([0, 1]);
  });

  test('is not closed, but the others are', async () => {
    const closed: string[] = [];
    const closing = (name: string, load: () => void): LifecycleLoader => ({
      name,
      load,
      optional: true,
      close: () => void closed.push(name),
    });
    const broken = () => {
      throw new Error('x');
    };
    const agent = new Agent({
      model: model(),
      loaders: [closing('a', () => {}), closing('b', broken), closing('c', () => {})],
      logger: keepingLogger(),
    });
    await agent.ready();

    await agent.close();

    expect(closed).toEqual(['c', 'a']);
    expect(agent.status().loaders.map(({ state }) => state)).toEqual(['closed', 'failed', 'closed']);
  });
});

describe('closing', () => {
  test('continues if a loader fails to close, and logs the failure', async () => {
    const closed: string[] = [];
    const logger = keepingLogger();
    const agent = new Agent({
      model: model(),
      logger,
      loaders: [
        { name: 'a', load: () => {}, close: () => void closed.push('a') },
        { name: 'b', load: () => {}, close: () => Promise.reject(new Error('x')) },
      ],
    });
    await agent.ready();

    await agent.close();

    expect(closed).toEqual(['a']);
    expect(logger.lines).toEqual(['error: Loader "b" failed to close.']);
  });

  test('aborts the signal of the loaders', async () => {
    const signals: AbortSignal[] = [];
    const agent = new Agent({
      model: model(),
      loaders: [{ name: 'a', load: (host) => void signals.push(host.signal) }],
    });
    await agent.ready();

    await agent.close();

    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('also closes a loader that was still loading', async () => {
    const slow = gate();
    const closed: string[] = [];
    const agent = new Agent({
      model: model(),
      logger: keepingLogger(),
      loaders: [{ name: 'slow', load: slow.pass, close: () => void closed.push('slow') }],
    });
    const ready = agent.ready().catch(() => {});
    await until(() => slow.arrived === 1);

    const closing = agent.close();
    await pause(5);
    slow.open();
    await within(Promise.all([closing, ready]));
    await pause();

    expect(closed).toEqual(['slow']);
  });

  test('ends a run that waits for the loaders', async () => {
    const slow = gate();
    const agent = new Agent({ model: model(), loaders: [{ name: 'slow', load: slow.pass }] });
    const running = agent.run('go').catch((error: unknown) => error);
    await until(() => slow.arrived === 1);

    const closing = agent.close();
    slow.open();

    expect(await within(running)).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    expect(await within(closing)).not.toBe(LATE);
  });

  test('does not wait for ever for a loader whose load hangs', async () => {
    const agent = new Agent({
      model: model(),
      clock: fastClock(),
      logger: keepingLogger(),
      loaders: [{ name: 'stuck', load: () => new Promise(() => {}) }],
    });
    const running = agent.run('go').catch((error: unknown) => error);

    expect(await within(agent.close())).not.toBe(LATE);

    expect(await within(running)).toMatchObject({ code: expect.stringMatching(/^ERR_(AGENT_CLOSED|RUN_ABORTED)$/) });
  });

  test('does not wait for ever for a loader whose close hangs', async () => {
    const agent = new Agent({
      model: model(),
      clock: fastClock(),
      logger: keepingLogger(),
      loaders: [{ name: 'stuck', load: () => {}, close: () => new Promise(() => {}) }],
    });
    await agent.ready();

    expect(await within(agent.close())).not.toBe(LATE);
  });

  test('prevents a loader from adding a lifecycle afterwards', async () => {
    let use: (() => void) | undefined;
    const agent = new Agent({
      model: model(),
      loaders: [
        {
          name: 'late',
          load(host) {
            use = () => void host.use({ name: 'late' });
          },
        },
      ],
    });
    await agent.ready();
    await agent.close();

    expect(use).toThrow(expect.objectContaining({ code: 'ERR_AGENT_CLOSED' }));
  });
});

test('use() replaces a lifecycle, and active runs keep the old one', async () => {
  const log: string[] = [];
  const part = (name: string) => ({ name, afterModel: () => void log.push(name) });
  let replace = () => {};
  const loader: LifecycleLoader = {
    name: 'l',
    load(host) {
      const first = host.use(part('first'));
      host.use({ ...part('beside'), beforeModel: () => replace() });
      replace = () => {
        replace = () => {};
        host.use(part('second'), first);
      };
    },
  };
  const agent = new Agent({ model: model(), loaders: [loader] });
  await agent.run('go');
  await agent.run('go');

  expect(log).toEqual(['first', 'beside', 'second', 'beside']);
  expect(agent.status().lifecycles.map(({ name }) => name)).toEqual(['second', 'beside']);
});

describe('status()', () => {
  test('has the status of a loader, from pending to closed', async () => {
    const agent = new Agent({
      model: model(),
      loaders: [{ name: 'a', load: () => {}, status: () => ({ servers: 2 }) }],
    });

    const states = [agent.status().loaders];
    await agent.ready();
    states.push(agent.status().loaders);
    await agent.close();
    states.push(agent.status().loaders);

    expect(states).toEqual(
      ['pending', 'loaded', 'closed'].map((state) => [{ name: 'a', state, details: { servers: 2 } }]),
    );
  });

  test('works if the status() of a loader throws', () => {
    const agent = new Agent({
      model: model(),
      loaders: [
        {
          name: 'a',
          load: () => {},
          status() {
            throw new Error('x');
          },
        },
      ],
    });

    expect(agent.status().loaders).toMatchObject([{ name: 'a', state: 'pending' }]);
  });
});
