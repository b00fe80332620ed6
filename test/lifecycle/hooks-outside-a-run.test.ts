import { Agent, type AgentLifecycle, HookAction } from 'keelson';
import { recorder, scriptedModel } from 'keelson/testing';
import { describe, expect, it, vi } from 'vitest';
import { manualClock, settled } from '../support/lifecycle/manual-clock.js';
import { keepingLogger } from '../support/lifecycle/sample-agent.js';

const boom = new RangeError('boom');
const hang = () => new Promise<void>(() => {});

function agentOf(...lifecycle: readonly AgentLifecycle[]) {
  const logger = keepingLogger();
  const clock = manualClock();
  return { logger, clock, agent: new Agent({ model: scriptedModel('done'), lifecycle, logger, clock }) };
}

describe('onInit', () => {
  it('is called once, before the first run, with the host', async () => {
    const hosts: unknown[] = [];
    const { agent } = agentOf({
      onInit: async (host) => {
        hosts.push(host.agent, host.tools(), host.signal.aborted, await host.generate({ messages: [], tools: [] }));
      },
    });

    await Promise.all([agent.run('Hello'), agent.run('Hello'), agent.ready()]);

    expect(hosts).toEqual(['agent', [], false, expect.objectContaining({ finishReason: 'stop' })]);
  });

  it.each([undefined, 'throw', 'block'] as const)(
    'rejects ready() and run() with a LifecycleError if it fails with `%s`',
    async (onFailure) => {
      const { agent } = agentOf({ name: 'bad', onFailure, onInit: () => Promise.reject(boom) });

      const error = { code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'bad', point: 'onInit', cause: boom };
      await expect(agent.ready()).rejects.toMatchObject(error);
      await expect(agent.run('Hello')).rejects.toMatchObject(error);
    },
  );

  it('is logged if it fails with `continue`, and the agent runs', async () => {
    const { agent, logger } = agentOf({ name: 'bad', onFailure: 'continue', onInit: () => Promise.reject(boom) });

    expect((await agent.run('Hello')).text).toBe('done');
    expect(logger.lines).toEqual(['error: Lifecycle "bad" failed in onInit: boom']);
  });

  it('starts no timer if it returns no promise', async () => {
    const { agent, clock } = agentOf({ onInit: () => {} });
    const started = vi.spyOn(clock, 'setTimeout');

    await agent.ready();

    expect(started).not.toHaveBeenCalled();
  });

  it('has a time limit of 30 s without `timeoutMs`', async () => {
    const { agent, clock } = agentOf({ name: 'slow', onInit: hang });
    const outcome = expect(agent.run('Hello')).rejects.toMatchObject({
      point: 'onInit',
      cause: { code: 'ERR_TIMEOUT', timeoutMs: 30_000 },
    });

    await clock.advance(30_000);

    await outcome;
  });

  it('has a time limit', async () => {
    const { agent, clock } = agentOf({ name: 'slow', timeoutMs: 100, onInit: hang });
    const ready = agent.ready();
    const outcome = expect(ready).rejects.toMatchObject({
      lifecycle: 'slow',
      cause: { code: 'ERR_TIMEOUT', timeoutMs: 100 },
    });

    await clock.advance(100);

    await outcome;
  });
});

describe.each(['onInit', 'onSessionStart'] as const)('%s', (point) => {
  const returning = (value: unknown, onFailure?: string) => agentOf({ name: 'bad', onFailure, [point]: () => value });

  it.each([
    ['an action', HookAction.reject('No.')],
    ['a promise of an action', Promise.resolve(HookAction.reject('No.'))],
  ])('fails if it returns %s', async (_what, value) => {
    const error = { lifecycle: 'bad', point, cause: { code: 'ERR_HOOK_RESULT_INVALID' } };

    await expect(returning(value, 'block').agent.session()).rejects.toMatchObject(error);
  });

  it.each([
    ['`Continue`', HookAction.Continue],
    ['another value', new Map()],
  ])('may return %s', async (_what, value) => {
    expect((await returning(value, 'block').agent.session()).messages).toEqual([]);
  });

  it('is logged and ignored with `continue` if it returns an action', async () => {
    const { agent, logger } = returning(HookAction.reject('No.'), 'continue');

    expect((await agent.session()).messages).toEqual([]);
    expect(logger.lines).toEqual([expect.stringContaining(`failed in ${point}: ${point} must return nothing`)]);
  });
});

describe('the hooks of a session', () => {
  it('get the session with its id, and at the end with all its messages', async () => {
    const seen: unknown[] = [];
    const { agent } = agentOf({
      onSessionStart: ({ id, messages }) => void seen.push(id, [...messages]),
      onSessionEnd: async ({ id, messages }) => void seen.push(id, messages.length),
    });

    const session = await agent.session({ id: 's1' });
    await session.run('Hello');
    await session.close();
    await session.close();

    expect(seen).toEqual(['s1', [], 's1', 2]);
  });

  it('onSessionEnd is also called for a lifecycle that was added after onSessionStart', async () => {
    const record = recorder();
    const { agent } = agentOf({});
    const session = await agent.session();
    agent.use(record.lifecycle('late', { only: ['onSessionStart', 'onSessionEnd'] }));

    await session.close();

    expect(record.log).toEqual(['late.onSessionEnd']);
  });

  it('a failing onSessionStart prevents the session from opening', async () => {
    const { agent } = agentOf({ name: 'bad', onSessionStart: () => Promise.reject(boom) });

    await expect(agent.session()).rejects.toMatchObject({ lifecycle: 'bad', point: 'onSessionStart', cause: boom });
    expect(agent.status().sessions).toBe(0);
  });

  it('onSessionStart has a time limit of 30 s without `timeoutMs`, and onSessionEnd follows a late return', async () => {
    const ended: string[] = [];
    let release = () => {};
    const { agent, clock } = agentOf({
      onSessionStart: () => new Promise<void>((resolve) => (release = resolve)),
      onSessionEnd: ({ id }) => void ended.push(id),
    });
    const outcome = expect(agent.session({ id: 's' })).rejects.toMatchObject({
      point: 'onSessionStart',
      cause: { code: 'ERR_TIMEOUT', timeoutMs: 30_000 },
    });

    await settled();
    await clock.advance(30_000);
    await outcome;
    expect(ended).toEqual([]);
    release();
    await settled();

    expect(ended).toEqual(['s']);
  });

  it('a failing onSessionEnd does not stop the other lifecycles', async () => {
    const record = recorder();
    const bad: AgentLifecycle = { name: 'bad', priority: 90, onSessionEnd: () => Promise.reject(boom) };
    const { agent } = agentOf(bad, record.lifecycle('later', { only: ['onSessionEnd'] }));
    const session = await agent.session();

    await session.close().catch(() => {});

    expect(record.log).toEqual(['later.onSessionEnd']);
  });

  it.each(['onSessionStart', 'onSessionEnd'] as const)('have a time limit: %s', async (point) => {
    const { agent, clock, logger } = agentOf({ name: 'slow', timeoutMs: 100, onFailure: 'continue', [point]: hang });
    let over = false;
    const life = agent.session().then((session) => session.close());
    void life.then(() => {
      over = true;
    });

    await clock.advance(99);
    expect(over).toBe(false);
    await clock.advance(1);

    expect(over).toBe(true);
    expect(logger.lines).toEqual([expect.stringMatching(`"slow" failed in ${point}: .*100 ms`)]);
  });
});

describe('onShutdown', () => {
  it('is called once, in reverse order, also after a failure', async () => {
    const record = recorder();
    const only = ['onShutdown'] as const;
    const bad = record.lifecycle('bad', { only, priority: 60, onShutdown: () => Promise.reject(boom) });
    const { agent, logger } = agentOf(
      record.lifecycle('a', { only }),
      bad,
      record.lifecycle('z', { only, priority: 90 }),
    );

    await Promise.all([agent.close(), agent.close()]);

    expect(record.log).toEqual(['a.onShutdown', 'bad.onShutdown', 'z.onShutdown']);
    expect(logger.lines).toEqual(['error: Lifecycle "bad" failed in onShutdown: boom']);
  });

  it.each([
    [5_000, undefined],
    [100, 100],
    [20_000, 20_000],
  ])('has a limit of %i ms if `timeoutMs` is %s', async (ms, timeoutMs) => {
    const record = recorder();
    const only = ['onShutdown'] as const;
    const { agent, clock } = agentOf(
      record.lifecycle('next', { only, priority: 90 }),
      record.lifecycle('hangs', { only, timeoutMs, onShutdown: hang }),
    );
    const closing = agent.close();

    await clock.advance(ms - 1);
    expect(record.log).toEqual(['hangs.onShutdown']);
    await clock.advance(1);
    await closing;

    expect(record.log).toEqual(['hangs.onShutdown', 'next.onShutdown']);
    expect(clock.waiting).toBe(0);
  });
});

describe('a removed lifecycle', () => {
  it('gets no call of a hook outside of a run', async () => {
    const record = recorder();
    const { agent } = agentOf();
    const dispose = agent.use(record.lifecycle('gone'));
    dispose();

    const session = await agent.session();
    await session.run('Hello');
    await session.close();
    await agent.close();
    await settled();

    expect(record.log).toEqual([]);
  });

  it('gets no call if another lifecycle removes it during the calls', async () => {
    const record = recorder();
    const taken = record.lifecycle('taken', { only: ['onSessionStart', 'onSessionEnd', 'onShutdown'] });
    const dispose: (() => void)[] = [];
    const { agent } = agentOf({ onSessionStart: () => dispose[0]?.() });
    dispose.push(agent.use(taken));

    await agent.session();
    await agent.close();

    expect(record.log).toEqual([]);
  });
});

describe('a hook that is pending when the agent is closed', () => {
  it('may end within 100 ms', async () => {
    const { agent, clock } = agentOf({ onInit: hang });
    let outcome: unknown = 'pending';
    agent.ready().catch((error: unknown) => {
      outcome = error;
    });
    await settled();
    const closing = agent.close();

    await clock.advance(99);
    expect(outcome).toBe('pending');
    await clock.advance(1);
    await closing;

    expect(outcome).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    expect(clock.waiting).toBe(0);
  });

  it('is not waited for if it has returned before', async () => {
    const { agent, clock } = agentOf({ onInit: async () => {} });
    await agent.ready();
    const started = vi.spyOn(clock, 'setTimeout');

    await agent.close();

    expect(started.mock.calls.map(([, ms]) => ms)).toEqual([5_000]);
  });
});
