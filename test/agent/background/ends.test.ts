import { Agent, toolResult } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { advance, backgroundLab, linesOf, untilSaid } from '../../support/agent/background/lab.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, pause, until } from '../../support/agent/settle.js';
import { storeOver } from '../../support/state/store-over.js';

const STARTED = '"build" continues in the background. Its result will follow as a message.';
const ENDED = 'user: The background work "build" has ended: built';

describe('the end of a background work', () => {
  test('after two minutes wakes the session, in which the person has gone on to speak', async () => {
    const script = [calls('build'), 'It is being built.', 'Sunny.', 'Twelve.', 'It is built.'];
    const { clock, agent, works, read } = backgroundLab(script);
    const session = await agent.session({ id: 's' });
    const first = await session.run('Build it.');
    clock.setTimeout(() => works[0]?.end('built'), 120_000);
    const second = await session.run('How is the weather?');
    await advance(clock, 60_000);
    const third = await session.run('What time is it?');
    await advance(clock, 60_000);
    await untilSaid(session, 'assistant: It is built.');

    expect([first.text, second.text, third.text]).toEqual(['It is being built.', 'Sunny.', 'Twelve.']);
    expect(read()[1]?.at(-1)).toBe(`tool: call_1=${STARTED}`);
    expect(read().at(-1)?.slice(-3)).toEqual(['user: What time is it?', 'assistant: Twelve.', ENDED]);
    await agent.close();
    expect(clock.pending()).toBe(0);
  });

  test('names the work, whose start is on record before the result of its tool', async () => {
    const { agent, works } = backgroundLab([calls('build'), 'Begun.', 'Done.']);
    const session = await agent.session({ id: 's' });
    await session.run('Build it.');
    const [{ id = '' } = {}] = agent.status().background;
    works[0]?.end('built');
    await untilSaid(session, 'assistant: Done.');

    const types = session.entries.map(({ body }) => (body.type === 'message' ? body.message.role : body.type));
    expect(types).toEqual(['user', 'assistant', 'background', 'tool', 'assistant', 'post', 'user', 'assistant']);
    expect(session.entries[2]).toMatchObject({ id, body: { type: 'background', label: 'build' } });
    expect(session.entries[5]).toMatchObject({ id: `${id}:end`, body: { post: { type: 'message', work: id } } });
    expect(session.entries[6]).toMatchObject({ body: { post: `${id}:end`, work: id } });
  });

  test('joins the running turn, in the order of the messages', async () => {
    const held = gate();
    const script = [calls('build'), 'Begun.', calls('wait'), 'All done.'];
    const { agent, works, read } = backgroundLab(script, [toolOf('wait', () => held.pass().then(() => 'waited'))]);
    const session = await agent.session({ id: 's' });
    await session.run('Build it.');
    const running = session.run('Wait for it.');
    await until(() => held.arrived === 1);

    await session.send('Quickly.');
    works[0]?.end('built');
    await until(() => agent.status().background.length === 0);
    await session.send('Please.');
    held.open();

    expect((await running).text).toBe('All done.');
    expect(read()[3]?.slice(-4)).toEqual(['tool: call_2=waited', 'user: Quickly.', ENDED, 'user: Please.']);
    await session.close();
    expect(read()).toHaveLength(4);
  });

  test('wakes the session if the run of another process ends before the message can join', async () => {
    const { agent, clock, store, works, read } = backgroundLab([calls('build'), 'Begun.', 'It is built.']);
    // The work ends right before the other run lets go.
    const endsFirst = storeOver(store, {
      append: async (id, append) => {
        if (append.release) works[0]?.end('built');
        await until(() => !append.release || agent.status().background.length === 0);
        return store.append(id, append);
      },
    });
    // It has no turn left to answer the message.
    const other = new Agent({ model: scriptedModel(['Hello.']), store: endsFirst, maxTurns: 1 });
    const session = await agent.session({ id: 's' });
    const there = await other.session({ id: 's' });
    await session.run('Build it.');
    await there.run('Anybody there?');
    while (linesOf(session.messages).at(-1) !== 'assistant: It is built.') await advance(clock, 1_000);

    expect(read().at(-1)?.slice(-3)).toEqual(['user: Anybody there?', 'assistant: Hello.', ENDED]);
    expect(read()).toHaveLength(3);
  });

  test('of two works at once is answered by one run', async () => {
    const both = calls({ name: 'build', input: { label: 'a' } }, { name: 'build', input: { label: 'b' } });
    const { agent, works, read } = backgroundLab([both, 'Begun.', 'Both are built.']);
    const session = await agent.session({ id: 's' });
    await session.run('Build both.');
    works[1]?.end('B');
    works[0]?.end('A');
    await untilSaid(session, 'assistant: Both are built.');
    await session.close();

    expect(read()).toHaveLength(3);
    expect(read()[2]?.slice(-2)).toEqual([
      'user: The background work "b" has ended: B',
      'user: The background work "a" has ended: A',
    ]);
  });

  test('waits while a call waits for a decision, and joins behind its result', async () => {
    const script = [calls('build'), 'Begun.', calls('pay'), 'Paid and built.'];
    const { agent, works, read } = backgroundLab(script, [toolOf('pay', () => 'paid')]);
    agent.use(approval({ tools: ['pay'] }));
    const session = await agent.session({ id: 's' });
    await session.run('Build it.');
    expect((await session.run('Pay.')).status).toBe('suspended');
    works[0]?.end('built');
    await until(() => agent.status().background.length === 0);
    await session.run('', { resume: { call_2: 'approve' } });
    await session.close();

    expect(read()).toHaveLength(4);
    expect(read()[3]?.slice(-2)).toEqual(['tool: call_2=paid', ENDED]);
  });

  test.each([
    ['a string', 'built', 'has ended: built'],
    ['nothing', undefined, 'has ended: Done.'],
    ['data', { pages: 3 }, 'has ended: {"pages":3}'],
    ['an error result', toolResult({ content: 'no disk', isError: true }), 'has failed: no disk'],
    ['an error', new TypeError('no disk'), 'has failed: no disk'],
    ['a value without JSON', 1n, 'has failed: The tool returned a value that is not JSON'],
  ])('tells %s', async (_name, value, words) => {
    const { agent, works } = backgroundLab([calls('build'), 'Begun.', 'I see.']);
    const session = await agent.session({ id: 's' });
    await session.run('Build it.');
    if (value instanceof Error) works[0]?.fail(value);
    else works[0]?.end(value);
    await untilSaid(session, 'assistant: I see.');

    expect(linesOf(session.messages).at(-2)).toContain(`user: The background work "build" ${words}`);
  });

  test('tells content parts', async () => {
    const { agent, works } = backgroundLab([calls('build'), 'Begun.', 'I see.']);
    const session = await agent.session({ id: 's' });
    await session.run('Build it.');
    const image = { type: 'image', image: new Uint8Array([1]), mediaType: 'image/png' };
    works[0]?.end([image]);
    await untilSaid(session, 'assistant: I see.');

    const text = expect.stringMatching(/^The background work "build" \(run_\S+\) has ended:$/);
    expect(session.messages.at(-2)).toEqual({ role: 'user', content: [{ type: 'text', text }, image] });
  });

  test('is told for a promise that the tool has started, and for a function that throws', async () => {
    const tools = [
      toolOf('first', (_, { run }) => run.background(Promise.resolve('one'), { label: 'first' })),
      toolOf('second', (_, { run }) =>
        run.background(
          () => {
            throw new TypeError('two');
          },
          { label: 'second' },
        ),
      ),
    ];
    const { agent } = backgroundLab([calls({ name: 'first' }, { name: 'second' }), 'Begun.', 'I see.'], tools);
    const session = await agent.session({ id: 's' });
    await session.run('Go.');
    await session.close();

    const lines = linesOf((await agent.session({ id: 's' })).messages);
    expect(lines).toContain('user: The background work "first" has ended: one');
    expect(lines).toContain('user: The background work "second" has failed: two');
  });
});

test('an end is posted as soon as the store can, and wakes the session once', async () => {
  const { agent, store, clock, works, read } = backgroundLab([calls('build'), 'Begun.', 'It is built.']);
  let failures = 0;
  const failing = storeOver(store, {
    post: async (...given) => {
      failures += 1;
      // The first attempt does not reach the store, and the answer to the second one is lost.
      if (failures > 1) store.post(...given);
      if (failures < 3) throw new TypeError('connection lost');
      return store.post(...given);
    },
  });
  const session = await agent.session({ id: 's', store: failing });
  await session.run('Build it.');
  works[0]?.end('built');
  while (failures < 3) await advance(clock, 1_000);
  await until(() => read().length === 3);
  await pause();

  expect(read()[2]?.filter((line) => line === ENDED)).toHaveLength(1);
});
