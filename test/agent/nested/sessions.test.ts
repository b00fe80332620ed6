import { Agent, type Entry, MemorySessionStore } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { type Payment, payChain } from '../../support/agent/nested/pay-chain.js';
import { echo } from '../../support/agent/sample-tools.js';
import { rejectionOf, until } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';
import { storeOver } from '../../support/state/store-over.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const LEAF = 'call_1/call_1/call_1';
const REST = { boss: ['All done.'], desk: ['The desk is done.'], clerk: ['The clerk paid.'] };

/** Runs the chain until the payment waits. */
async function suspended(options: Parameters<typeof payChain>[1] = {}, scripts: Parameters<typeof payChain>[0] = {}) {
  const chain = payChain(scripts, options);
  const session = await chain.boss.session({ id: 's' });
  return { ...chain, session, result: await session.run('Start.') };
}

const messagesAt = (entries: readonly Entry[], depth: number) =>
  entries.flatMap(({ body, path = [] }) =>
    body.type === 'message' && path.length === depth ? [body.message.role] : [],
  );

describe('a session', () => {
  test('keeps the messages of every run under its path, and another process goes on with them', async () => {
    const folder = await temporaryFolder();
    const first = await suspended({ store: new FileSessionStore({ folder }) });
    expect(first.result.pending).toMatchObject([{ id: LEAF }]);

    const { boss, paid, models } = payChain(REST, { store: new FileSessionStore({ folder }) });
    const session = await boss.session({ id: 's' });
    const result = await session.run('', { resume: { [LEAF]: 'approve' }, by: 'ada' });

    expect([result.text, paid.length]).toEqual(['All done.', 1]);
    expect(models.clerk.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    const { entries } = session;
    for (const depth of [0, 1, 2])
      expect(messagesAt(entries, depth)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(entries.filter(({ body }) => body.type === 'decision').map(({ by, path }) => [by, path])).toEqual([
      ['ada', undefined],
      ['ada', ['call_1']],
      ['ada', ['call_1', 'call_1']],
    ]);
    const runs = new Set(entries.filter(({ path }) => path?.length === 2).map(({ run }) => run));
    expect(runs.size).toBe(1);
  });

  test('shows the model of each agent its own messages only', async () => {
    const { session, models } = await suspended(
      {},
      { boss: [calls('desk', { prompt: 'Go.' }), 'All done.', 'Hello.'] },
    );
    await session.run('', { resume: { [LEAF]: 'approve' } });

    await session.run('Once more.');

    expect(models.boss.requests[2]?.messages.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'assistant', 'user'],
    ]);
  });

  test('decides on one of two, and keeps why the other one waits', async () => {
    const { desk } = payChain();
    const model = scriptedModel([
      calls({ name: 'desk', input: { prompt: 'a' } }, { name: 'echo', input: { text: 'b' } }),
      'done',
    ]);
    const tools = [desk.asTool({ description: 'Works.' }), echo];
    const agent = new Agent({ model, tools, lifecycle: [approval({ tools: ['echo'] })] });
    const session = await agent.session();
    const both = await session.run('go');

    const second = await session.run('', { resume: { call_2: 'approve' } });
    expect(second.pending).toEqual([both.pending[0]]);
    const again = await session.run('', { resume: { [LEAF]: { deny: 'no' } } });

    expect(resultsIn(again.history)).toEqual({ call_1: 'The desk is done.', call_2: 'b' });
  });

  test('is stopped with all that waits', async () => {
    const { session, paid } = await suspended();

    expect(await session.stop({ reason: 'enough' })).toBe(true);

    expect(resultsIn(session.messages).call_1).toContain('enough');
    expect(await rejectionOf(session.run('', { resume: { [LEAF]: 'approve' } }))).toMatchObject({
      code: 'ERR_RESUME_INVALID',
    });
    expect(paid).toEqual([]);
  });

  test('is copied with the runs inside, and only the original goes on', async () => {
    const { boss, session, paid } = await suspended();

    await session.fork({ id: 'copy' });
    const copy = await boss.session({ id: 'copy' });
    await copy.history();

    expect(messagesAt(copy.entries, 2)).toEqual(['user', 'assistant']);
    expect(resultsIn(copy.messages).call_1).toContain('This copy of the conversation does not run the call.');
    await rejectionOf(copy.run('', { resume: { [LEAF]: 'approve' } }));
    expect(await session.run('', { resume: { [LEAF]: 'approve' } })).toMatchObject({ text: 'All done.' });
    expect(paid).toHaveLength(1);
  });
});

/** Dies while the approved payment runs. Returns what the next process needs. */
async function crashed() {
  const clock = manualClock();
  const store = new MemorySessionStore({ clock });
  const paid: Payment[] = [];
  // Its own clock stands still, so that it does not renew its claim.
  const dying = await suspended({ store, clock: manualClock(), paid, pay: () => new Promise(() => {}) });
  void dying.session.run('', { resume: { [LEAF]: 'approve' } }).catch(() => {});
  await until(() => paid.length === 1);
  await clock.advance(30_001);
  // A store object of its own, as another process has one.
  return { clock, paid, store: storeOver(store, {}) };
}

describe('after a crash during an approved call', () => {
  test('nothing runs again unless somebody says so', async () => {
    const { clock, paid, store } = await crashed();
    const { boss, models } = payChain({ boss: ['I do not know.'] }, { clock, paid, store });

    const session = await boss.session({ id: 's' });
    const result = await session.run('Did it work?');

    expect([result.text, paid.length]).toEqual(['I do not know.', 1]);
    expect(resultsIn(models.boss.requests[0]?.messages ?? []).call_1).toContain('it may have happened');
  });

  test('the call runs again under the same key, as a second attempt, if the outermost call is repeated', async () => {
    const { clock, paid, store } = await crashed();
    const { boss } = payChain(REST, { clock, paid, store, clerk: { lifecycle: [] } });

    const session = await boss.session({ id: 's' });
    const result = await session.run('', { resume: { call_1: 'approve' } });

    expect(result.text).toBe('All done.');
    expect(paid).toEqual([
      { euro: 40, key: paid[0]?.key, attempt: 1 },
      { euro: 40, key: paid[0]?.key, attempt: 2 },
    ]);
  });

  test('a call of a later turn with the same id has begun once', async () => {
    const { clock, paid, store } = await crashed();
    const pay = calls({ name: 'pay', id: 'call_1', input: { euro: 2 } });
    const { boss } = payChain({ ...REST, clerk: [pay, 'Paid.'] }, { clock, paid, store, clerk: { lifecycle: [] } });
    const session = await boss.session({ id: 's' });

    await session.run('', { resume: { call_1: 'approve' } });

    expect(paid.map(({ euro, attempt }) => [euro, attempt])).toEqual([
      [40, 1],
      [40, 2],
      [2, 1],
    ]);
  });

  test('a denial of the repeated call tells the model that it may have happened', async () => {
    const { clock, paid, store } = await crashed();
    const { boss, models } = payChain(REST, { clock, paid, store });
    const session = await boss.session({ id: 's' });
    await session.run('', { resume: { call_1: 'approve' } });

    await session.run('', { resume: { [LEAF]: { deny: 'too much' } } });

    const told = 'The call was denied: too much. An earlier attempt may have happened.';
    expect(resultsIn(models.clerk.requests[0]?.messages ?? []).call_1).toBe(`!${told}`);
    expect(paid).toHaveLength(1);
  });

  test('the repeated call asks for its approval again', async () => {
    const { clock, paid, store } = await crashed();
    const { boss } = payChain(REST, { clock, paid, store });

    const session = await boss.session({ id: 's' });
    const result = await session.run('', { resume: { call_1: 'approve' } });

    expect(result.pending).toMatchObject([{ id: LEAF }]);
    expect(paid).toHaveLength(1);
    await session.run('', { resume: { [LEAF]: 'approve' } });
    expect(paid.map(({ attempt, key }) => [attempt, key === paid[0]?.key])).toEqual([
      [1, true],
      [2, true],
    ]);
  });
});

test('a run inside of a later turn waits, also if the process stopped before the outermost run said so', async () => {
  const work = calls('desk', { prompt: 'Go.' });
  const clerk = [calls('pay', { euro: 1 }), 'Paid.', calls('pay', { euro: 2 }), 'Paid.'];
  const desk = [calls('clerk', { prompt: 'x' }), 'Done.', calls('clerk', { prompt: 'x' }), 'Done.'];
  const first = await suspended({}, { boss: [work, work], desk, clerk });
  await first.session.run('', { resume: { [LEAF]: 'approve' } });
  const store = new MemorySessionStore();
  await store.claim('s', { token: 't', run: 'r', ttlMs: 1_000 });
  await store.append('s', { token: 't', length: 0, entries: first.session.entries.slice(0, -1), release: true });

  const { boss, paid } = payChain(REST, { store });
  const session = await boss.session({ id: 's' });
  const result = await session.run('', { resume: { 'call_2/call_2/call_2': 'approve' } });

  expect(result.text).toBe('All done.');
  expect(paid).toMatchObject([{ euro: 2, attempt: 1 }]);
});

test('a message that must not wait denies the question of a run inside', async () => {
  let asked = false;
  const ask = () => {
    asked = true;
    return new Promise<'approve'>(() => {});
  };
  const { boss, models, paid } = payChain({}, { clerk: { lifecycle: [approval({ tools: ['pay'], ask })] } });
  const session = await boss.session();
  const running = session.run('Start.');
  await until(() => asked);

  await session.send('Wait!', { when: 'now' });

  await running;
  expect(paid).toEqual([]);
  expect(resultsIn(models.clerk.requests[1]?.messages ?? []).call_1).toContain('The person went on');
});
