import { Agent, type AgentLifecycle, MemorySessionStore } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fastClock } from '../support/agent/fake-clock.js';
import { gate, LATE, pause, rejectionOf, until, within } from '../support/agent/settle.js';
import { storeOver } from '../support/state/store-over.js';

type Point = 'onInit' | 'onSessionStart' | 'onSessionEnd';

/**
 * Makes an agent with two lifecycles that log the start and end of a hook. The first one waits at a gate in that hook.
 */
function waitingAgent(point: Point) {
  const log: string[] = [];
  const held = gate();
  const part = (name: string, waits: boolean): AgentLifecycle => {
    const noted = (hook: Point | 'onShutdown') => async () => {
      log.push(`${name}.${hook}`);
      if (waits && hook === point) await held.pass();
      log.push(`${name}.${hook} done`);
    };
    return {
      ...{ name, onInit: noted('onInit'), onSessionStart: noted('onSessionStart') },
      ...{ onSessionEnd: noted('onSessionEnd'), onShutdown: noted('onShutdown') },
    };
  };
  const agent = new Agent({ model: scriptedModel([]), lifecycle: [part('a', true), part('b', false)] });
  return { agent, log, held };
}

const shutDown = ['b.onShutdown', 'b.onShutdown done', 'a.onShutdown', 'a.onShutdown done'];

describe('onShutdown is called after all other hooks if the agent is closed', () => {
  test('during an onInit, which finishes, and no further onInit starts', async () => {
    const { agent, log, held } = waitingAgent('onInit');
    const ready = rejectionOf(agent.ready());
    await until(() => held.arrived === 1);

    const closing = agent.close();
    await pause(10);
    held.open();
    await closing;

    expect(await ready).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    expect(log).toEqual(['a.onInit', 'a.onInit done', ...shutDown]);
  });

  test('while a session opens, and each lifecycle with onSessionStart gets onSessionEnd', async () => {
    const { agent, log, held } = waitingAgent('onSessionStart');
    const opening = rejectionOf(agent.session());
    await until(() => held.arrived === 1);
    log.length = 0;

    const closing = agent.close();
    await pause(10);
    held.open();
    await closing;

    expect(await opening).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    expect(log).toEqual(['a.onSessionStart done', 'a.onSessionEnd', 'a.onSessionEnd done', ...shutDown]);
  });

  test('while a session is closed, and its onSessionEnd finishes', async () => {
    const { agent, log, held } = waitingAgent('onSessionEnd');
    const session = await agent.session();
    const ending = session.close();
    await until(() => held.arrived === 1);
    log.length = 0;

    const closing = agent.close();
    await pause(10);
    held.open();
    await Promise.all([ending, closing]);

    expect(log).toEqual(['a.onSessionEnd done', 'b.onSessionEnd', 'b.onSessionEnd done', ...shutDown]);
  });

  test('by an onSessionEnd that awaits close(), after at most five seconds', async () => {
    const agent: Agent = new Agent({
      model: scriptedModel([]),
      lifecycle: [{ onSessionEnd: () => agent.close() }],
      clock: fastClock(),
    });
    const session = await agent.session();

    expect(await within(session.close())).not.toBe(LATE);
  });
});

describe('close() does not wait five seconds for', () => {
  test.each([false, true])('an onInit hook that hangs, and calls its onShutdown if it ends later: %s', async (ends) => {
    const log: string[] = [];
    const held = gate();
    const signals: boolean[] = [];
    const agent = new Agent({
      model: scriptedModel([]),
      lifecycle: [
        {
          onInit: async ({ signal }) => {
            await held.pass();
            signals.push(signal.aborted);
            log.push('opened');
          },
          onShutdown: () => void log.push('closed'),
        },
        { onShutdown: () => void log.push('b.onShutdown') },
      ],
    });
    const running = rejectionOf(agent.run('go'));
    const ready = rejectionOf(agent.ready());
    await until(() => held.arrived === 1);

    expect(await within(agent.close())).not.toBe(LATE);
    expect([await running, await ready]).toMatchObject([{ code: 'ERR_AGENT_CLOSED' }, { code: 'ERR_AGENT_CLOSED' }]);
    expect(log).toEqual(['b.onShutdown']);
    if (!ends) return;
    held.open();
    await until(() => log.length === 3);

    expect(log).toEqual(['b.onShutdown', 'opened', 'closed']);
    expect(signals).toEqual([true]);
  });

  test('an onSessionStart hook that hangs, and calls its onSessionEnd once it has returned', async () => {
    const { agent, log, held } = waitingAgent('onSessionStart');
    const opening = rejectionOf(agent.session());
    await until(() => held.arrived === 1);

    expect(await within(agent.close())).not.toBe(LATE);
    expect(await opening).toMatchObject({ code: 'ERR_AGENT_CLOSED' });
    log.length = 0;
    held.open();
    await until(() => log.length === 3);

    expect(log).toEqual(['a.onSessionStart done', 'a.onSessionEnd', 'a.onSessionEnd done']);
  });
});

test.each(['before the store answers', 'at once'])(
  'a lifecycle that is added while a session opens, %s, gets onInit before onSessionStart',
  async (when) => {
    const held = gate();
    const inner = new MemorySessionStore();
    const store = storeOver(inner, {
      load: async (...given) => {
        await held.pass();
        return inner.load(...given);
      },
    });
    const agent = new Agent({ model: scriptedModel([]), store });
    const log: string[] = [];
    const opening = agent.session();
    if (when !== 'at once') await until(() => held.arrived === 1);

    agent.use({ onInit: () => void log.push('onInit'), onSessionStart: () => void log.push('onSessionStart') });
    held.open();
    await opening;

    expect(log).toEqual(['onInit', 'onSessionStart']);
  },
);
