import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentOptions } from 'keelson';
import { MemorySessionStore } from 'keelson';
import { compaction } from 'keelson/lifecycles';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

interface Line {
  readonly type: string;
  readonly subtype?: string;
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly logicalParentUuid?: string | null;
  readonly isMeta?: boolean;
  readonly isCompactSummary?: boolean;
  readonly message?: { readonly content: string | readonly { readonly id?: string; readonly tool_use_id?: string }[] };
}

function lines(): readonly Line[] {
  const text = readFileSync(join(lab.home, '.keelson/sessions/transcripts/s1.jsonl'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const prompts = () =>
  lines()
    .filter(({ type, isMeta, message }) => type === 'user' && !isMeta && typeof message?.content === 'string')
    .map(({ message }) => message?.content);

/** Runs prompts of one session, each with one tool call, with a summary each few messages. */
async function run(given: readonly string[], options: Partial<AgentOptions> = {}, keep = 3) {
  let count = 0;
  const summary = compaction({ maxMessages: 8, keep, summarize: () => `summary ${count++}` });
  const each = [command('cat')];
  const hooks = claudeHooks(lab, { PreToolUse: each, Stop: each, SessionEnd: each }, { transcript: 'claude' });
  const script = given.flatMap((prompt) => [calls('look', { prompt }), says(`Answer to ${prompt}.`)]);
  const agentOptions = { script, tools: [countingTool('look').tool], lifecycle: [summary], ...options };
  const session = await agentWith(lab, hooks, agentOptions).agent.session({ id: 's1' });
  for (const prompt of given) await session.run(prompt);
  return session;
}

describe('after compactions, the transcript', () => {
  test('has each prompt, tool call and result once, and the latest summary', async () => {
    const given = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
    await run(given);

    const blocks = lines().flatMap(({ message }) =>
      typeof message?.content === 'string' ? [] : (message?.content ?? []),
    );
    const ids = blocks.flatMap(({ id, tool_use_id }) => [id ?? tool_use_id ?? []].flat());
    const callIds = blocks.flatMap(({ id }) => id ?? []);
    const summaries = lines().flatMap(({ isCompactSummary, message }) => (isCompactSummary ? [message?.content] : []));
    expect(prompts()).toEqual(given);
    expect(new Set(callIds).size).toBe(given.length);
    expect(ids).toHaveLength(2 * given.length);
    expect(summaries).toHaveLength(1);
  });

  test.each([1, 2, 3])('has a prompt as often as it was given, if %i messages are kept', async (keep) => {
    const given = ['go on', 'go on', 'go on', 'no', 'go on', 'go on'];
    await run(given, {}, keep);

    expect(prompts()).toEqual(given);
  });

  test('marks a summary as Claude Code does, and goes on from it', async () => {
    await run(['one', 'two', 'three', 'four']);
    const all = lines();
    const at = all.findIndex(({ isCompactSummary }) => isCompactSummary);
    const [before, boundary, summary, after] = all.slice(at - 2);

    expect(boundary).toMatchObject({
      ...{ type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted' },
      ...{ parentUuid: null, logicalParentUuid: before?.uuid, compactMetadata: { trigger: 'auto' } },
    });
    expect(summary).toMatchObject({ type: 'user', isMeta: true, isVisibleInTranscriptOnly: true });
    expect(summary?.message?.content).toContain('summary');
    expect(summary?.parentUuid).toBe(boundary?.uuid);
    expect(after?.parentUuid).toBe(summary?.uuid);
  });

  test('keeps the summary and all lines at the end of the session, and gets the messages since', async () => {
    const session = await run(['one', 'two', 'three', 'four']);
    const before = lines();
    await session.append({ role: 'user', content: 'later' });
    await session.close();

    expect(lines().slice(0, -1)).toEqual(before);
    expect(lines().filter(({ isCompactSummary }) => isCompactSummary)).toHaveLength(1);
    expect(lines().at(-1)).toMatchObject({ parentUuid: before.at(-1)?.uuid, message: { content: 'later' } });
  });

  test('keeps the ids of the messages before a new branch, and gives no new message an earlier id', async () => {
    const session = await run(['one', 'two']);
    const byId = () => Object.fromEntries(lines().map(({ uuid, message }) => [uuid, JSON.stringify(message)]));
    const before = byId();
    const [first] = session.entries;
    await session.branch(first?.id ?? null);
    await session.append({ role: 'assistant', content: [{ type: 'text', text: 'Another answer.' }] });
    await session.close();

    const shared = Object.entries(byId()).filter(([id]) => id in before);
    expect(lines()).toHaveLength(2);
    expect(shared).toEqual(Object.entries(before).slice(0, 1));
  });

  test('has each message and the latest summary once in the next process', async () => {
    const store = new MemorySessionStore();
    await run(['one', 'two', 'three', 'four'], { store });
    await run(['five'], { store });

    expect(lines().filter(({ isCompactSummary }) => isCompactSummary)).toHaveLength(1);
    expect(lines().filter(({ subtype }) => subtype === 'compact_boundary')).toHaveLength(1);
    expect(prompts()).toEqual(['one', 'two', 'three', 'four', 'five']);
  });
});
