import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentLifecycle, AgentOptions } from 'keelson';
import { type ScriptEntry, type ScriptedUsage, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

interface Answer {
  readonly id: string;
  readonly model?: string;
  readonly content: readonly { readonly type: string }[];
  readonly usage?: Readonly<Record<string, number>>;
}

function answers(): readonly Answer[] {
  const text = readFileSync(join(lab.home, '.keelson/sessions/transcripts/s1.jsonl'), 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return lines.filter(({ type }) => type === 'assistant').map(({ message }) => message);
}

/** Runs one prompt for each entry of `prompts`, with hooks at these events. */
async function run(script: readonly ScriptEntry[], events: readonly string[], options: Partial<AgentOptions> = {}) {
  const hooks = claudeHooks(lab, Object.fromEntries(events.map((event) => [event, [command('cat >/dev/null')]])), {
    transcript: 'claude',
  });
  const { agent } = agentWith(lab, hooks, { script, tools: [countingTool('look').tool], ...options });
  return agent.session({ id: 's1' });
}

const used = (inputTokens: number, more: Partial<ScriptedUsage> = {}) => ({
  usage: { inputTokens, outputTokens: 7, ...more },
});

describe('the lines of an answer in a transcript', () => {
  test('have the model and the tokens in the form of Claude Code', async () => {
    const cached = used(100, { cachedInputTokens: 60, cacheWriteTokens: 30, reasoningTokens: 2 });
    const session = await run(
      [says('', { calls: [{ name: 'look', input: {} }], ...cached }), says('A.', used(20))],
      ['Stop'],
    );
    await session.run('one');

    expect(answers()).toMatchObject([
      {
        model: 'scripted',
        usage: {
          input_tokens: 10,
          cache_creation_input_tokens: 30,
          cache_read_input_tokens: 60,
          output_tokens: 7,
        },
      },
      { model: 'scripted', usage: { input_tokens: 20, cache_read_input_tokens: 0, output_tokens: 7 } },
    ]);
  });

  test('have the same id and the same tokens if an answer has several blocks', async () => {
    const session = await run(
      [says('Let me look.', { calls: [{ name: 'look', input: {} }], ...used(20) }), says('A.')],
      ['Stop'],
    );
    await session.run('one');
    const [first, second] = answers();

    expect([first?.content[0]?.type, second?.content[0]?.type]).toEqual(['text', 'tool_use']);
    expect(second?.id).toBe(first?.id);
    expect([first?.usage?.input_tokens, second?.usage?.input_tokens]).toEqual([20, 20]);
  });

  test('have the tokens of their own answer if two answers are the same', async () => {
    const session = await run([says('Yes.', used(11)), says('Yes.', used(12)), says('No.', used(13))], ['Stop']);
    for (const prompt of ['one', 'two', 'three']) await session.run(prompt);

    expect(answers().map(({ usage }) => usage?.input_tokens)).toEqual([11, 12, 13]);
  });

  test('have them also if a later run writes them first', async () => {
    const session = await run([says('A.', used(11)), says('B.', used(12))], ['UserPromptSubmit']);
    await session.run('one');
    await session.run('two');

    expect(answers().map(({ usage }) => usage?.input_tokens)).toEqual([11]);
  });

  test('have neither if no model of this process wrote the answer', async () => {
    const answering: AgentLifecycle = {
      name: 'answering',
      beforeModel: () => ({ type: 'respond', text: 'From a rule.' }),
    };
    const session = await run([], ['UserPromptSubmit'], { lifecycle: [answering] });
    await session.run('one');
    await session.run('two');

    expect(answers()).toHaveLength(1);
    expect(answers()[0]).not.toHaveProperty('model');
    expect(answers()[0]).not.toHaveProperty('usage');
  });
});
