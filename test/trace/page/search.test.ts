import { Agent, type AgentLifecycle, toolResult } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { readTrace, trace } from 'keelson/trace';
import { describe, expect, test } from 'vitest';
import { buildStory } from '../../../src/page/story/build-story.js';
import type { Story } from '../../../src/page/story/story.js';
import { type Filter, Search } from '../../../src/page/view/search.js';
import { toolOf } from '../../support/agent/sample-tools.js';

/** A clerk looks, then answers. A guard denies a second tool, and a summary is written. */
async function clerkStory(): Promise<Story> {
  const lines: string[] = [];
  const guard: AgentLifecycle = {
    name: 'guard',
    wrapToolCall: ({ name }, next) => (name === 'pay' ? toolResult({ content: 'Not today.', isError: true }) : next()),
  };
  const agent = new Agent({
    name: 'clerk',
    model: scriptedModel([calls({ name: 'look', input: {} }, { name: 'pay', input: {} }), 'The shelf is empty.']),
    tools: [toolOf('look', () => 'dust'), toolOf('pay', () => 'paid')],
    lifecycle: [trace({ to: (line) => lines.push(line) }), guard],
  });
  await agent.run('Look around.');
  lines.splice(3, 0, JSON.stringify({ ...JSON.parse(lines[1] ?? ''), type: 'compaction-start' }));
  return buildStory(readTrace(lines.join('\n')));
}

const found = (story: Story, query: string, filter: Filter = 'all') =>
  [...(new Search(story).find(query, filter) ?? [])].map(({ title }) => title);

describe('the search', () => {
  test('finds an answer at its model call and its turn', async () => {
    const story = await clerkStory();

    expect(found(story, 'shelf is empty')).toEqual(['turn 2', 'scripted']);
    expect(found(story, 'shelf is empty', 'model')).toEqual(['scripted']);
  });

  test('finds a result at its own call, and not at a call beside it', async () => {
    expect(found(await clerkStory(), 'dust', 'tool')).toEqual(['look']);
  });

  test('finds the words of every record', async () => {
    const story = await clerkStory();

    const missed = story.records.filter((record) => found(story, JSON.stringify(record).toLowerCase()).length === 0);

    expect(missed).toEqual([]);
  });

  test('of problems leaves out notes', async () => {
    const story = await clerkStory();

    expect(story.items.map(({ mark }) => mark)).toContain('note');
    expect(found(story, '', 'problems')).toEqual(['pay', 'guard: block in wrapToolCall of "pay"']);
  });

  test('goes on in a longer version of the trace', async () => {
    const story = await clerkStory();
    const earlier = new Search(buildStory(story.records.slice(0, 5)));
    earlier.prepare();

    expect([...(new Search(story, earlier).find('shelf is empty', 'model') ?? [])]).toHaveLength(1);
  });
});
