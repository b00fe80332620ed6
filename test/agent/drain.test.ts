import { Agent, MemorySessionStore, textOf } from 'keelson';
import { calls, hangs, scriptedModel, streams } from 'keelson/testing';
import { createAgentHandler, MemoryRunLog } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { gate, rejectionOf, until } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { storeOver } from '../support/state/store-over.js';
import { loadHistory, post } from '../support/ui/chat-client.js';
import { readSSE } from '../support/ui/read-sse.js';

const closed = { code: 'ERR_AGENT_CLOSED' };

describe('agent.close({ drainMs })', () => {
  test('lets active runs end, with the runs that they start, and refuses others', async () => {
    const held = gate();
    const clock = fakeClock();
    const work = toolOf('work', async (_input, { run }) => {
      await held.pass();
      return (await agent.run('Nested.', { parent: run })).text;
    });
    const model = scriptedModel([calls('work'), 'Nested answer.', 'Done.']);
    const agent = new Agent({ model, tools: [work], clock });
    const running = agent.run('Go.');
    await until(() => held.arrived === 1);

    const closing = agent.close({ drainMs: 20_000 });

    expect(agent.status()).toMatchObject({ closed: true, runs: 1 });
    expect(await rejectionOf(agent.run('New.'))).toMatchObject(closed);
    expect(await rejectionOf(agent.session())).toMatchObject(closed);
    held.open();
    expect((await running).text).toBe('Done.');
    await closing;
    expect(clock.now()).toBe(0);
  });

  test('aborts the runs that are left after the time, and their session keeps what was said', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore();
    const agent = new Agent({ model: scriptedModel([streams(['Hel'], hangs())]), store, clock });
    const shown = new Promise<void>((resolve) => agent.once('text-delta', () => resolve()));
    const { result } = (await agent.session({ id: 's' })).stream('Go.');
    await shown;

    const closing = agent.close({ drainMs: 20_000 });
    clock.advance(19_999);
    expect(agent.status().runs).toBe(1);
    clock.advance(1);

    expect(await rejectionOf(result)).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: closed });
    await closing;
    const later = new Agent({ model: scriptedModel([]), store });
    expect((await later.session({ id: 's' })).messages.map(textOf)).toEqual(['Go.', 'Hel']);
  });

  test('refuses wrong options', () => {
    const agent = new Agent({ model: scriptedModel([]) });

    expect(() => agent.close({ drainMs: -1 })).toThrow(/drainMs.*milliseconds from 1 to \d+.*-1/);
  });
});

test('a server that shuts down tells its pages, and a page goes on at another server', async () => {
  const store = new MemorySessionStore();
  const runLog = new MemoryRunLog();
  const logger = keepingLogger();
  const all = { authorize: 'none', session: (id: string) => id, protocol: 'sse', runLog, logger } as const;
  const here = new Agent({ model: scriptedModel([streams(['Hel'], hangs())]), store, logger });
  const there = new Agent({ model: scriptedModel(['And more.']), store: storeOver(store, {}), logger });
  const [first, second] = [createAgentHandler(here, all), createAgentHandler(there, all)];
  const page = await post(first, '', { id: 'chat', message: 'Go.' });
  const watching = await second(new Request('http://localhost/chat/stream?id=chat'));

  await here.close({ drainMs: 1 });

  const stopped = { type: 'run-error', errorText: 'The run was stopped.', aborted: true };
  for (const response of [page, watching]) {
    expect((await readSSE(response)).map(({ data }) => data)).toContainEqual(stopped);
  }
  const run = (await store.load('chat'))?.entries[0]?.run ?? '';
  expect((await runLog.read(run, 0))?.events.at(-2)?.event).toMatchObject({
    type: 'run-error',
    error: { cause: closed },
  });
  const refused = await post(first, '', { id: 'chat', message: 'And?' });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.json()).toMatchObject({ error: { code: 'ERR_UI_CLOSING' } });
  expect((await loadHistory(second)).messages).toHaveLength(2);
  expect(await (await post(second, '', { id: 'chat', message: 'And?' })).text()).toContain('And more.');
});

test('a page that follows a run of another process is told when its own server shuts down', async () => {
  const store = new MemorySessionStore();
  const runLog = new MemoryRunLog();
  const held = gate();
  const work = toolOf('work', () => held.pass().then(() => 'worked'));
  const owner = new Agent({ model: scriptedModel([calls('work'), 'Done.']), tools: [work], store });
  const reader = new Agent({ model: scriptedModel([]), store: storeOver(store, {}) });
  const running = (await owner.session({ id: 's', runLog })).run('Go.');
  await until(() => held.arrived === 1);
  const stream = await (await reader.session({ id: 's', runLog })).attach();

  await reader.close();
  held.open();

  expect(await rejectionOf(stream?.result ?? Promise.resolve())).toMatchObject(closed);
  expect((await running).text).toBe('Done.');
});
