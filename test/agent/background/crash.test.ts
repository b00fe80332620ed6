import { Agent, MemorySessionStore } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { advance, backgroundTool, linesOf } from '../../support/agent/background/lab.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { watchRows } from '../../support/state/remaining-rows.js';

const LOST = 'user: The process that ran the background work "build" stopped. The work may be done in part or in full.';
const ENDED = 'user: The background work "build" has ended: built';
const STARTED = '"build" continues in the background. Its result will follow as a message.';

/** Starts a work in one process, and opens its conversation in another. A process whose clock stands still has stopped. */
async function twoProcesses() {
  const time = fakeClock();
  const { store, rows } = watchRows(new MemorySessionStore({ clock: time }));
  const { tool, works } = backgroundTool();
  const here = fakeClock();
  const logger = keepingLogger();
  const model = scriptedModel([calls('build'), 'Begun.', 'Oh.']);
  const agent = new Agent({ model, store, clock: here, tools: [tool], logger });
  const session = await agent.session({ id: 's' });
  await session.run('Build it.');
  const other = new Agent({ model: scriptedModel(['One.', 'Two.', 'Three.']), store, clock: time });
  const there = await other.session({ id: 's' });
  const read = () => linesOf(there.messages);
  return { agent, session, work: works[0] as (typeof works)[0], here, time, there, rows, store, read };
}

describe('a work whose process has stopped', () => {
  test('is told as lost by the next run, once, and leaves nothing in the store', async () => {
    const { time, there, rows, read } = await twoProcesses();
    time.advance(30_000);
    await there.run('What now?');
    await there.run('And now?');

    expect(read().slice(4)).toEqual([LOST, 'user: What now?', 'assistant: One.', 'user: And now?', 'assistant: Two.']);
    expect([...rows]).toEqual(['s']);
  });

  test('is told as lost once, although its process goes on later, and its signal is aborted', async () => {
    const { here, time, work, agent, there, rows, read } = await twoProcesses();
    time.advance(30_000);
    await there.run('What now?');
    await advance(here, 10_000);
    expect(work.signal.aborted).toBe(true);
    work.end('built');
    await until(() => agent.status().background.length === 0);
    await there.run('And now?');

    expect(read().filter((line) => line.includes('build"'))).toEqual([`tool: call_1=${STARTED}`, LOST]);
    expect([...rows]).toEqual(['s']);
    expect(here.pending()).toBe(0);
  });

  test('is not told as lost if its end was posted before', async () => {
    const { time, work, agent, there, read } = await twoProcesses();
    time.advance(30_000);
    work.end('built');
    await until(() => agent.status().background.length === 0);
    await there.run('What now?');

    expect(read()).toContain(ENDED);
    expect(read()).not.toContain(LOST);
  });
});

describe('a work whose process goes on', () => {
  test('is not told as lost by a run of another process', async () => {
    const { here, time, work, there, session, rows, read } = await twoProcesses();
    for (let passed = 0; passed < 60; passed += 1) await Promise.all([advance(here, 1_000), advance(time, 1_000)]);
    await there.run('What now?');
    expect(read()).not.toContain(LOST);

    work.end('built');
    await until(() => linesOf(session.messages).at(-1) === 'assistant: Oh.');
    expect(linesOf(session.messages).at(-2)).toBe(ENDED);
    expect([...rows]).toEqual(['s']);
  });

  test('tells nothing in a conversation that was deleted and begun again', async () => {
    const { store, work, agent, there, rows, read } = await twoProcesses();
    await store.delete('s');
    const next = await agent.session({ id: 's' });
    await next.append({ role: 'user', content: 'A new start.' });
    work.end('built');
    await until(() => agent.status().background.length === 0);
    await there.run('');

    expect(read()).toEqual(['user: A new start.', 'assistant: One.']);
    expect([...rows]).toEqual(['s']);
  });

  test('is found by a run that reads only the part behind a summary', async () => {
    const { time, there, store, read } = await twoProcesses();
    await there.run('Sum up.');
    const [summarizer] = [new Agent({ model: scriptedModel(['Summed up.']), store, clock: time })];
    summarizer.use({ beforeModel: (messages, run) => run.summarize({ text: 'So far.', from: messages.at(-1) }) });
    await (await summarizer.session({ id: 's' })).run('Go on.');
    time.advance(30_000);
    const fresh = await new Agent({ model: scriptedModel(['Oh.']), store, clock: time }).session({ id: 's' });
    await fresh.run('What now?');

    expect(linesOf(fresh.messages)).toContain(LOST);
    expect(read()).not.toContain(LOST);
  });
});
