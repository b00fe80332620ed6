import { describe, expect, it } from 'vitest';
import { Agent, MemorySessionStore, type RunContext } from '../../src/index.js';
import { calls, hangs, type ScriptEntry, scriptedModel } from '../../src/testing/testing.js';
import { fakeClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { pause, rejectionOf } from '../support/agent/settle.js';

async function sessionOf(script: readonly ScriptEntry[]) {
  const store = new MemorySessionStore();
  const agent = new Agent({ model: scriptedModel(script), store });
  const session = await agent.session({ id: 's' });
  return { agent, session, stored: async () => (await store.load('s'))?.entries ?? [] };
}

describe('two session objects with one id', () => {
  it('run one after another', async () => {
    const { agent, session, stored } = await sessionOf(['one', 'two', 'three', 'four']);
    const other = await agent.session({ id: 's' });

    const runs = [session.run('a'), other.run('b'), session.run('c'), other.run('d')];
    const histories = (await Promise.all(runs)).map(({ history }) => history.length);

    expect(histories).toEqual([2, 4, 6, 8]);
    expect(await stored()).toHaveLength(8);
  });

  it('end the wait for a hanging run with an error that names `parent`', async () => {
    const { agent, session } = await sessionOf([hangs(), 'next']);
    const other = await agent.session({ id: 's' });
    const stop = new AbortController();
    const blocking = rejectionOf(session.run('for ever', { signal: stop.signal }));

    const busy = await rejectionOf(other.run('b', { timeouts: { queueMs: 20 } }));

    expect(busy).toMatchObject({ code: 'ERR_SESSION_BUSY', timeoutMs: 20, message: expect.stringMatching(/parent/) });
    stop.abort();
    await blocking;
    expect((await other.run('again')).text).toBe('next');
  });

  it('end the wait after 30 s by default', async () => {
    const clock = fakeClock();
    const agent = new Agent({ model: scriptedModel([hangs()]), clock });
    const [session, other] = await Promise.all([agent.session({ id: 's' }), agent.session({ id: 's' })]);
    const stop = new AbortController();
    const blocking = rejectionOf(session.run('for ever', { signal: stop.signal }));
    let busy: unknown;
    const waiting = other.run('b').catch((error: unknown) => {
      busy = error;
    });

    clock.advance(29_999);
    await pause();
    expect(busy).toBeUndefined();
    clock.advance(1);
    await waiting;

    expect(busy).toMatchObject({ code: 'ERR_SESSION_BUSY', timeoutMs: 30_000 });
    stop.abort();
    await blocking;
  });

  it('refuse a nested run with `parent` at once', async () => {
    const store = new MemorySessionStore();
    let inner: unknown;
    const agent: Agent = new Agent({
      model: scriptedModel([calls('ask'), 'done']),
      store,
      tools: [
        toolOf('ask', async (_input, { run }) => {
          const again = await agent.session({ id: 's' });
          inner = await rejectionOf(again.run('nested', { parent: run as RunContext }));
          return 'asked';
        }),
      ],
    });
    const session = await agent.session({ id: 's' });

    await session.run('go');

    expect(inner).toMatchObject({ code: 'ERR_SESSION_REENTRY' });
  });
});
