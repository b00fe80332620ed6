import { Agent, MemorySessionStore, type Session } from 'keelson';
import { calls, hangs, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { advancing } from '../../support/agent/advancing.js';
import { backgroundLab, untilSaid } from '../../support/agent/background/lab.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, rejectionOf, until } from '../../support/agent/settle.js';

const ENDED = 'user: The background work "build" has ended: built';

describe('the run that a background work wakes', () => {
  test('has the context and the options of the run that started the work, but not its signal', async () => {
    const seen: unknown[] = [];
    const clock = fakeClock();
    const model = scriptedModel([calls('build'), 'Begun.', 'Done.']);
    const held = gate();
    const build = toolOf('build', (_, { run }) => run.background(held.pass(), { label: 'build' }));
    const agent = new Agent<{ user: string }>({
      ...{ model: scriptedModel([]), clock, store: new MemorySessionStore({ clock }) },
      lifecycle: [{ beforeModel: (_messages, run) => void seen.push(run.context) }],
    });
    const session = await agent.session({ id: 's' });
    const stop = new AbortController();
    const context = { user: 'ada' };
    const options = { context, model, tools: [build], signal: stop.signal, by: 'ada', id: 'input' };
    await session.run('Build it.', options);
    stop.abort();
    held.open();
    await untilSaid(session as Session, 'assistant: Done.');

    expect(seen).toEqual([context, context, context]);
    expect(session.entries.filter(({ by }) => by === 'ada').map(({ id }) => id)).toEqual(['input']);
  });

  test('is stopped by session.stop, and a failure of it is logged', async () => {
    const { agent, clock, works, logger } = backgroundLab([
      calls({ name: 'build', input: { label: 'a' } }, { name: 'build', input: { label: 'b' } }),
      ...['Begun.', hangs()],
    ]);
    const session = await agent.session({ id: 's' });
    await session.run('Build it.');
    works[0]?.end('built');
    await until(() => agent.status().runs === 1);
    await until(() => session.messages.length === 5);
    expect(await advancing(clock, session.stop())).toBe(true);
    expect(logger.lines).toEqual([]);

    works[1]?.end('built');
    await until(() => logger.lines.length === 1);
    expect(logger.lines[0]).toMatch(/^error: The background work "b" \(run_\S+\) started a run that failed\.$/);
  });

  test('is not started if the session is closed, and the next run reads the end', async () => {
    const { agent, works, read } = backgroundLab([calls('build'), 'Begun.', 'It is built.']);
    const session = await agent.session({ id: 's' });
    await session.run('Build it.');
    works[0]?.end('built');
    await session.close();
    const again = await agent.session({ id: 's' });
    await again.run('');

    expect(read()).toHaveLength(3);
    expect(read()[2]?.at(-1)).toBe(ENDED);
  });
});

test('a work goes on when the run that has started it is stopped', async () => {
  const { agent, clock, works } = backgroundLab([calls('build'), hangs(), 'It is built.']);
  const session = await agent.session({ id: 's' });
  const running = rejectionOf(session.run('Build it.'));
  await until(() => works.length === 1 && session.messages.length === 3);

  expect(await advancing(clock, session.stop())).toBe(true);
  expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect(works[0]?.signal.aborted).toBe(false);
  works[0]?.end('built');
  await untilSaid(session, 'assistant: It is built.');
});
