import { Agent, type AgentLifecycle } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { readTrace, type TraceRecord, trace } from 'keelson/trace';
import { describe, expect, test } from 'vitest';
import { buildStory } from '../../../src/page/story/build-story.js';
import { conversationOf } from '../../../src/page/story/conversation.js';
import { lineDiff } from '../../../src/page/story/line-diff.js';
import { positionsOf } from '../../../src/page/story/positions.js';
import { redPath } from '../../../src/page/story/red-path.js';
import type { Story } from '../../../src/page/story/story.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { FAILING_RUNS } from '../../support/trace/failing-runs.js';

async function storyOf(run: (trace: AgentLifecycle) => Promise<unknown>): Promise<Story> {
  const lines: string[] = [];
  await run(trace({ to: (line) => lines.push(line) }));
  return buildStory(readTrace(lines.join('\n')));
}

/** The way from each failure to its cause: the agent and the title of each item. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  'a tool that throws two levels down': ['boss: desk', 'desk: clerk', 'clerk: pay'],
  'a call that a guard denies': ['clerk: pay', 'clerk: guard: block in wrapToolCall of "pay"'],
  'a limit of the outer agent that ends a nested run': ['boss: boss failed', 'boss: limits: reject in beforeModel'],
  'a model that stays overloaded after all retries': [
    'clerk: clerk failed',
    ...['clerk: scripted', 'clerk: scripted', 'clerk: scripted'],
  ],
  'an MCP server that cannot be started': ['clerk: mcp__files__read', 'clerk: server "files" not connected'],
  'a hook that exceeds its time limit': ['clerk: clerk failed', 'clerk: slow: beforeModel'],
  'an answer that does not match the output schema': ['clerk: clerk failed', 'clerk: scripted'],
  'a context that is too long because of one tool': ['clerk: clerk failed', 'clerk: scripted', 'clerk: dump'],
  'a cache that a timestamp breaks': ['clerk: cache miss', 'clerk: stamp: wrapModelCall'],
  'a session that another process deletes': ['clerk: clerk failed'],
};

test.each(FAILING_RUNS)('the red path leads from $title to its cause', async ({ title, run }) => {
  const story = await storyOf(run);

  const [first] = story.findings;
  const path = first === undefined ? [] : redPath(story, first);

  expect(path.map((item) => `${item.lane.group.agent}: ${item.title}`)).toEqual(WAYS[title]);
});

/** A desk that asks a clerk, inside of two lifecycles. */
function desk(traced: AgentLifecycle): Agent {
  const polite: AgentLifecycle = { name: 'polite', wrapToolCall: async (_call, next) => ({ ...(await next()) }) };
  const strict: AgentLifecycle = { name: 'strict', wrapToolCall: async (_call, next) => ({ ...(await next()) }) };
  const greet: AgentLifecycle = { name: 'greet', beforeAgent: (input) => `${input} Please.` };
  const clerk = new Agent({
    name: 'clerk',
    model: scriptedModel([calls('look'), 'Nothing is there.'], { id: 'small' }),
    tools: [toolOf('look', () => 'nothing')],
  });
  return new Agent({
    name: 'desk',
    model: scriptedModel([calls({ name: 'clerk', input: { prompt: 'Look.' } }), 'It is empty.'], { id: 'large' }),
    tools: [clerk.asTool({ description: 'Looks.' })],
    lifecycle: [traced, greet, polite, strict],
  });
}

/** An office that asks two clerks at the same time. */
function office(traced: AgentLifecycle): Agent {
  const slow: AgentLifecycle = { name: 'slow', beforeModel: () => Promise.resolve() };
  const clerk = (name: string) =>
    new Agent({
      name,
      model: scriptedModel([calls('look'), 'Nothing is there.']),
      tools: [toolOf('look', () => 'nothing')],
      lifecycle: [slow],
    }).asTool({ description: 'Looks.' });
  const ask = (name: string) => ({ name, input: { prompt: 'Look.' } });
  return new Agent({
    name: 'office',
    model: scriptedModel([calls(ask('north'), ask('south')), 'It is empty.']),
    tools: [clerk('north'), clerk('south')],
    lifecycle: [traced],
  });
}

describe('a story', () => {
  test('has the lanes of a run, with lifecycles in their order, and the run inside below its tool', async () => {
    const { groups } = await storyOf((traced) => desk(traced).run('Look around.'));

    const lanes = groups.flatMap(({ agent, depth, lanes: own }) =>
      own.map(({ kind, name }) => `${depth} ${agent} ${kind} ${name}`),
    );
    expect(lanes).toEqual([
      ...['0 desk turns desk', '0 desk lifecycle greet', '0 desk lifecycle polite', '0 desk lifecycle strict'],
      ...['0 desk model large', '0 desk context context', '0 desk tool clerk'],
      ...['1 clerk turns clerk', '1 clerk model small', '1 clerk context context', '1 clerk tool look'],
    ]);
  });

  test('has the conversation as people read it', async () => {
    const story = await storyOf((traced) => desk(traced).run('Look around.'));

    expect(conversationOf(story).map(({ depth, who, text }) => [depth, who, text])).toEqual([
      [0, 'user', 'Look around.'],
      [0, 'clerk', 'Nothing is there.'],
      [1, 'task', 'Look.'],
      [1, 'look', 'nothing'],
      [1, 'clerk', 'Nothing is there.'],
      [0, 'desk', 'It is empty.'],
    ]);
  });

  test('of a run that goes on has open items up to its last record', async () => {
    const whole = await storyOf((traced) => desk(traced).run('Look around.'));
    const cut = whole.records.findIndex(({ type }) => type === 'tool-start') + 1;

    const { items } = buildStory(whole.records.slice(0, cut));

    expect(items.at(-1)).toMatchObject({ kind: 'tool', title: 'clerk', mark: 'waits', isOpen: true, to: cut - 1 });
  });

  test('keeps the ids of items and the keys of groups while the run goes on', async () => {
    const whole = await storyOf((traced) => office(traced).run('Look around.'));
    const ids = (story: Story) => story.items.map(({ id, kind, title, runId }) => `${id} ${kind} ${title} ${runId}`);
    const keys = (story: Story) => story.groups.map(({ key }) => key);

    for (const length of whole.records.keys()) {
      const part = buildStory(whole.records.slice(0, length));
      expect(ids(whole)).toEqual(expect.arrayContaining(ids(part)));
      expect(keys(whole)).toEqual(expect.arrayContaining(keys(part)));
    }
    expect(new Set(whole.items.map(({ id }) => id)).size).toBe(whole.items.length);
    expect(new Set(keys(whole)).size).toBe(3);
  });

  test('has items that begin at records of their own run', async () => {
    const { records, items } = await storyOf((traced) => office(traced).run('Look around.'));

    expect(items.filter(({ kind }) => kind === 'hook')).not.toEqual([]);
    expect(items.map(({ from }) => records[from]?.runId)).toEqual(items.map(({ runId }) => runId));
  });

  test('shows no result for a call that has not ended, although another call has', async () => {
    const { records } = await storyOf((traced) => office(traced).run('Look around.'));
    const end = records.findIndex((record) => record.type === 'tool-end' && record.name === 'look');

    const said = conversationOf(buildStory(records.slice(0, end + 1)));

    expect(said.filter(({ role }) => role === 'call').map(({ who, text }) => [who, text])).toEqual(
      expect.arrayContaining([
        ['north', 'did not end'],
        ['south', 'did not end'],
        ['look', 'nothing'],
      ]),
    );
  });

  test.each([
    ['a call that a guard denies', 'denied'],
    ['a tool that throws two levels down', 'failed'],
  ])('of %s marks the call as %s', async (title, mark) => {
    const story = await storyOf(async (traced) => FAILING_RUNS.find((failing) => failing.title === title)?.run(traced));

    expect(story.items.find((item) => item.kind === 'tool' && item.title === 'pay')?.mark).toBe(mark);
    expect(conversationOf(story).find(({ who }) => who === 'pay')?.mark).toBe(mark);
  });

  test('of a run that seems to be inside of itself has an end', () => {
    const place = { at: 0, runId: 'r', turn: 1 } as const;
    const start = { type: 'run-start', at: 0, runId: 'r', agent: 'clerk', input: 'Pay.' } as const;
    const call = { type: 'tool-start', ...place, callId: 'c', name: 'pay', input: {} } as const;
    const error = { name: 'Error', message: 'declined' };
    const story = buildStory([
      start,
      call,
      { ...start, path: ['c'] },
      { type: 'run-error', at: 0, runId: 'r', error },
    ] as TraceRecord[]);

    const [first] = story.findings;

    expect(first && redPath(story, first).map(({ title }) => title)).toEqual(['clerk failed']);
  });
});

test('positions grow with time and with the number of records', () => {
  const at = (time: number) => ({ type: 'turn-start', at: time, runId: 'r', turn: 1 }) as const;

  expect([...positionsOf([at(0), at(0), at(100)], 100)]).toEqual([0, 25, 100]);
  expect([...positionsOf([at(5), at(5), at(5)], 100)]).toEqual([0, 50, 100]);
});

test('a diff keeps common lines', () => {
  const shown = lineDiff('a\nb\nc', 'a\nc\nd').map(({ kind, text }) => `${kind} ${text}`);

  expect(shown).toEqual(['same a', 'gone b', 'same c', 'new d']);
});
