import { Agent, type AgentLifecycle } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { readTrace, trace } from 'keelson/trace';
import { describe, expect, test } from 'vitest';
import { conversationOf } from '../../../src/page/story/conversation.js';
import { lineDiff } from '../../../src/page/story/line-diff.js';
import { positionsOf } from '../../../src/page/story/positions.js';
import { redPath } from '../../../src/page/story/red-path.js';
import type { Story } from '../../../src/page/story/story.js';
import { tell } from '../../../src/page/story/tell.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { FAILING_RUNS } from '../../support/trace/failing-runs.js';

async function storyOf(run: (trace: AgentLifecycle) => Promise<unknown>): Promise<Story> {
  const lines: string[] = [];
  await run(trace({ to: (line) => lines.push(line) }));
  return tell(readTrace(lines.join('\n')));
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

    const { items } = tell(whole.records.slice(0, cut));

    expect(items.at(-1)).toMatchObject({ kind: 'tool', title: 'clerk', mark: 'waits', to: cut - 1 });
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
