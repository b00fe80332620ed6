import { Agent } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { advancing } from '../../support/agent/advancing.js';
import { backgroundLab, linesOf } from '../../support/agent/background/lab.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, until } from '../../support/agent/settle.js';

const STOPPED = 'user: The background work "build" was stopped.';

/** Starts a work, and returns a function that tells what a later agent reads. */
async function begin() {
  const lab = backgroundLab([calls('build'), 'Begun.']);
  const session = await lab.agent.session({ id: 's' });
  await session.run('Build it.');
  const { store, clock } = lab;
  /** Runs a later agent, and returns what its model reads. */
  const later = async () => {
    const model = scriptedModel(['Oh.']);
    const next = await new Agent({ model, store, clock }).session({ id: 's' });
    await next.run('');
    return linesOf(model.requests[0]?.messages ?? []);
  };
  return { ...lab, session, work: lab.works[0] as (typeof lab.works)[0], later };
}

describe('closing', () => {
  test.each(['session', 'agent'] as const)('the %s stops its works, tells it, and wakes nobody', async (what) => {
    const { agent, session, work, clock, read, later } = await begin();
    work.signal.addEventListener('abort', () => work.fail(work.signal.reason));
    await (what === 'session' ? session : agent).close();

    const code = what === 'session' ? 'ERR_SESSION_CLOSED' : 'ERR_AGENT_CLOSED';
    expect(work.signal.reason).toMatchObject({ code });
    expect([read().length, clock.pending(), agent.status().background]).toEqual([2, 0, []]);
    expect((await later()).at(-1)).toBe(STOPPED);
  });

  test('tells the value of a work that ends although it was stopped', async () => {
    const { session, work, later } = await begin();
    work.signal.addEventListener('abort', () => work.end('half of it'));
    await session.close();

    expect((await later()).at(-1)).toBe('user: The background work "build" has ended: half of it');
  });

  test.each(['session', 'agent'] as const)('the %s waits five seconds for a work that ignores it', async (what) => {
    const { agent, session, work, clock, later } = await begin();
    const start = clock.now();
    await advancing(clock, (what === 'session' ? session : agent).close());

    expect([clock.now() - start, clock.pending()]).toEqual([5_000, 0]);
    work.end('too late');
    expect((await later()).at(-1)).toBe(STOPPED);
  });

  test('the agent with a drain lets the works go on until its end', async () => {
    const { agent, work, clock, read, later } = await begin();
    const closing = agent.close({ drainMs: 20_000 });
    work.end('built');
    await closing;

    expect([work.signal.aborted, read().length, clock.pending()]).toEqual([false, 2, 0]);
    expect((await later()).at(-1)).toBe('user: The background work "build" has ended: built');
  });

  test('the session waits for its queued runs first, which may start works', async () => {
    const held = gate();
    const { agent, works } = backgroundLab(
      [calls('wait'), calls('build'), 'Begun.'],
      [toolOf('wait', () => held.pass().then(() => 'waited'))],
    );
    const session = await agent.session({ id: 's' });
    const running = session.run('Wait, and build it.');
    await until(() => held.arrived === 1);
    const closing = session.close();
    held.open();
    await running;
    await until(() => works[0]?.signal.aborted === true);
    works[0]?.fail('stopped');
    await closing;

    expect(agent.status().sessions).toBe(0);
  });
});

test('agent.status lists the works that go on', async () => {
  const { agent, session, work, clock } = await begin();
  const since = clock.now();
  clock.advance(5_000);

  const id = session.entries.find(({ body }) => body.type === 'background')?.id;
  expect(agent.status().background).toEqual([{ id, label: 'build', session: 's', since }]);
  work.end('built');
  await until(() => agent.status().background.length === 0);
});
