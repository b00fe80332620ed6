import { Agent, type AgentLifecycle, MemorySessionStore } from 'keelson';
import { calls, hangs, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fastClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { gate, LATE, pause, rejectionOf, unhandledDuring, until, within } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

const never = () => new Promise<never>(() => {});
const closed = { code: 'ERR_RUN_ABORTED', cause: { code: 'ERR_AGENT_CLOSED' } };

/** Rejects when the signal aborts, and never settles otherwise. */
function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

describe('agent.close()', () => {
  type Arrive = (signal: AbortSignal | undefined) => Promise<never>;
  const waiting: Readonly<Record<string, (arrive: Arrive) => Agent>> = {
    'its only tool': (arrive) =>
      new Agent({
        model: scriptedModel([calls('wait')]),
        tools: [toolOf('wait', (_input, { signal }) => arrive(signal))],
      }),
    'one of its tools': (arrive) =>
      new Agent({
        model: scriptedModel([calls({ name: 'wait' }, { name: 'quick' })]),
        tools: [toolOf('wait', (_input, { signal }) => arrive(signal)), toolOf('quick', () => 'ok')],
      }),
    'a hook': (arrive) =>
      new Agent({
        model: scriptedModel([]),
        lifecycle: [{ beforeModel: (_messages, { signal }) => arrive(signal) }],
      }),
    'a wrap hook': (arrive) =>
      new Agent({
        model: scriptedModel([calls('quick')]),
        tools: [toolOf('quick', () => 'ok')],
        lifecycle: [{ wrapToolCall: (call) => arrive(call.run.signal) }],
      }),
  };

  test.each(Object.entries(waiting))(
    'aborts a run without its own signal that waits in %s, at once',
    async (_title, make) => {
      let arrived = 0;
      const agent = make((signal) => {
        arrived += 1;
        return untilAborted(signal);
      });
      const running = agent.run('go').catch((error: unknown) => error);
      await until(() => arrived === 1);

      const closing = within(agent.close());

      expect(await within(running)).toMatchObject(closed);
      expect(await closing).not.toBe(LATE);
    },
  );

  test('closes the sessions, aborts their runs, and calls onSessionEnd before onShutdown', async () => {
    const log: string[] = [];
    const agent = new Agent({
      model: scriptedModel([hangs({ deaf: true })]),
      lifecycle: [
        {
          onError: () => void log.push('onError'),
          onSessionEnd: ({ id }) => void log.push(`end ${id}`),
          onShutdown: () => void log.push('onShutdown'),
        },
      ],
    });
    const session = await agent.session({ id: 's1' });
    await agent.session({ id: 's2' });
    const running = rejectionOf(session.run('go'));
    const queued = rejectionOf(session.run('go'));
    await until(() => agent.status().runs === 1);

    expect(await within(agent.close())).not.toBe(LATE);

    expect(await running).toMatchObject(closed);
    expect(await queued).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    // The first session waits for its run.
    expect(log).toEqual(['onError', 'end s2', 'end s1', 'onShutdown']);
    expect(agent.status()).toMatchObject({ closed: true, runs: 0, sessions: 0 });
  });

  test('closes eight sessions at a time, each session once', async () => {
    const held = gate();
    let ended = 0;
    const onSessionEnd = async () => {
      await held.pass();
      ended += 1;
    };
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [{ onSessionEnd }] });
    for (let i = 0; i < 20; i++) await agent.session();

    const closing = agent.close();
    await pause(10);
    const arrived = held.arrived;
    held.open();
    await closing;

    expect({ arrived, ended }).toEqual({ arrived: 8, ended: 20 });
  });

  test('waits for the onError of the aborted runs before onShutdown', async () => {
    const log: string[] = [];
    const agent = new Agent({
      model: scriptedModel([hangs()]),
      lifecycle: [
        {
          onError: () => pause(10).then(() => void log.push('onError')),
          onShutdown: () => void log.push('onShutdown'),
        },
      ],
    });
    const { signal } = new AbortController();
    const running = agent.run('go', { signal }).catch(() => {});
    await until(() => agent.status().runs === 1);

    await agent.close();
    await running;

    expect(log).toEqual(['onError', 'onShutdown']);
  });

  test.each(['claim', 'append'] as const)('does not wait for ever for a store whose %s hangs', async (method) => {
    const store = new MemorySessionStore();
    const agent = new Agent({ model: scriptedModel(['done']), store, clock: fastClock(), logger: keepingLogger() });
    const session = await agent.session();
    store[method] = never as never;
    session.run('go').catch(() => {});
    await pause(5);

    expect(await within(agent.close())).not.toBe(LATE);
  });

  test('does not wait for a loader that hangs, and closes it once it has loaded', async () => {
    const slow = gate();
    const log: string[] = [];
    const agent = new Agent({
      model: scriptedModel([]),
      loaders: [{ name: 'slow', load: slow.pass, close: () => void log.push('closed') }],
    });
    const running = rejectionOf(agent.run('go'));
    await until(() => slow.arrived === 1);

    expect(await within(agent.close())).not.toBe(LATE);
    expect(await running).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    expect(log).toEqual([]);
    slow.open();
    await until(() => log.length > 0);
    expect(log).toEqual(['closed']);
  });

  test('calls onShutdown in reverse order, one after another', async () => {
    const log: string[] = [];
    const part = (name: string, priority: number): AgentLifecycle => ({
      priority,
      async onShutdown() {
        log.push(`${name}>`);
        await pause(1);
        log.push(`<${name}`);
      },
    });
    const agent = new Agent({ model: scriptedModel([]), lifecycle: [part('b', 50), part('a', 90), part('c', 50)] });

    await agent.close();

    expect(log).toEqual(['c>', '<c', 'b>', '<b', 'a>', '<a']);
  });

  test('continues if an onShutdown fails or hangs, and logs the failure', async () => {
    const log: string[] = [];
    const logger = keepingLogger();
    const agent = new Agent({
      model: scriptedModel([]),
      clock: fastClock(),
      logger,
      lifecycle: [
        { name: 'last', onShutdown: () => void log.push('last') },
        { name: 'hangs', onShutdown: never },
        { name: 'hangs with a time of its own', timeoutMs: 7, onShutdown: never },
        { name: 'throws', onShutdown: () => Promise.reject(new Error('no')) },
      ],
    });

    await agent.close();

    expect(log).toEqual(['last']);
    expect(logger.lines).toEqual([
      'error: Lifecycle "throws" failed in onShutdown: no',
      expect.stringContaining('longer than 7 ms'),
      expect.stringContaining('longer than 5000 ms'),
    ]);
  });

  test('continues if a session fails to close, and logs the failure', async () => {
    const logger = keepingLogger();
    const log: string[] = [];
    const agent = new Agent({
      model: scriptedModel([]),
      logger,
      lifecycle: [
        { onSessionEnd: () => Promise.reject(new Error('x')), onShutdown: () => void log.push('onShutdown') },
      ],
    });
    await agent.session({ id: 's' });

    await agent.close();

    expect(log).toEqual(['onShutdown']);
    expect(logger.lines).toEqual(['error: Session "s" failed to close.']);
  });

  test('makes run, stream, session, use and ready fail', async () => {
    const model = scriptedModel('never');
    const agent = new Agent({ name: 'mine', model });
    const session = await agent.session();
    await agent.close();
    const refused = { code: 'ERR_AGENT_CLOSED', message: expect.stringContaining('"mine"') };

    expect(await rejectionOf(agent.run('go'))).toMatchObject(refused);
    expect(await rejectionOf(agent.stream('go').result)).toMatchObject(refused);
    expect(await rejectionOf(agent.session())).toMatchObject(refused);
    expect(await rejectionOf(agent.ready())).toMatchObject(refused);
    expect(await rejectionOf(session.run('go'))).toMatchObject({ code: 'ERR_SESSION_CLOSED' });
    expect(() => agent.use({})).toThrow(expect.objectContaining(refused));
    expect(model.requests).toEqual([]);
  });

  test('shuts down once, and a second call waits for the first', async () => {
    let shutdowns = 0;
    const slow = gate();
    const agent = new Agent({
      model: scriptedModel([]),
      lifecycle: [
        {
          onShutdown() {
            shutdowns += 1;
            return slow.pass();
          },
        },
      ],
    });

    const first = agent.close();
    const second = within(agent.close(), 20);
    expect(await second).toBe(LATE);
    slow.open();
    await Promise.all([first, agent.close(), agent[Symbol.asyncDispose]()]);

    expect(shutdowns).toBe(1);
  });

  test('can be called from a tool of a run', async () => {
    const agent: Agent = new Agent({
      model: scriptedModel([calls('stop')]),
      tools: [toolOf('stop', () => agent.close())],
      clock: fastClock(),
    });

    const unhandled = await unhandledDuring(async () => {
      expect(await within(agent.run('go').catch((error: unknown) => error))).toMatchObject(closed);
      expect(await within(agent.close())).not.toBe(LATE);
    });

    expect(unhandled).toEqual([]);
  });

  test('calls no hook of a removed lifecycle', async () => {
    const log: string[] = [];
    const agent = new Agent({ model: scriptedModel([]) });
    agent.use({ onShutdown: () => void log.push('removed') })();
    agent.use({ onShutdown: () => void log.push('kept') });

    await agent.close();

    expect(log).toEqual(['kept']);
  });
});
