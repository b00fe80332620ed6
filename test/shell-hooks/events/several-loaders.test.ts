import { defineTool, type LifecycleLoader } from 'keelson';
import { approval, compaction } from 'keelson/lifecycles';
import type { HookDefinition } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { agentWith, answers, countingTool, hooksIn, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const notes = (event: 'notification' | 'before_compaction', word: string, before = '') =>
  sh(event, `cat >/dev/null; ${before} echo ${word} >> log.txt`);
const log = () => (lab.has('log.txt') ? lab.read('log.txt').trim().split('\n') : []);
const loadersOf = (...hooks: readonly HookDefinition[]): LifecycleLoader[] =>
  hooks.map((hook) => hooksIn(lab, { hooks: [hook] }));

/** Runs an agent with these loaders that asks for one approval. */
async function askOnce(loaders: LifecycleLoader[], asks = true) {
  const { tool } = countingTool('pay');
  const lifecycle = asks ? [approval({ tools: ['pay'], ask: () => 'approve' })] : [];
  const script = [calls('pay', {}), says('ok')];
  const { agent } = agentWith(lab, hooksIn(lab, {}), { script, tools: [tool], loaders, lifecycle });
  await agent.run('go');
  return agent;
}

describe('notification hooks of several loaders', () => {
  test('all run, in the order of the loaders', async () => {
    const slow = notes('notification', 'one', 'sleep 0.3;');
    await askOnce(loadersOf(slow, notes('notification', 'two'), notes('notification', 'three')));

    await expect.poll(log, { timeout: 5_000 }).toEqual(['one', 'two', 'three']);
  });

  test('run even if another loader has only hooks for a compaction', async () => {
    await askOnce(loadersOf(notes('notification', 'one'), notes('before_compaction', 'two')));

    await expect.poll(log, { timeout: 5_000 }).toEqual(['one']);
  });

  test('run when a hook of another loader asks', async () => {
    const asks = { hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'Sure?' } };
    lab.write('out.json', JSON.stringify(asks));
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'cat out.json' }] }] };
    lab.write('.claude/settings.json', JSON.stringify({ hooks }));
    const claude = hooksIn(lab, { discover: ['claude'], approve: () => true });
    await askOnce([claude, ...loadersOf(notes('notification', 'one'))], false);

    await expect.poll(log, { timeout: 5_000 }).toEqual(['one']);
  });
});

describe('a compaction', () => {
  const look = defineTool({
    name: 'look',
    description: 'x',
    input: { type: 'object' },
    execute: () => 'x'.repeat(500),
  });
  const script = [...Array.from({ length: 6 }, () => calls('look', {})), says('done')];
  const refuse = answers('before_compaction', { continue: false });

  test.each([
    ['the first loader', [refuse, notes('before_compaction', 'two')], []],
    ['the last loader', [notes('before_compaction', 'one'), refuse], ['one']],
    [
      'a loader in the middle',
      [notes('before_compaction', 'one'), refuse, notes('before_compaction', 'three')],
      ['one'],
    ],
  ])('is prevented by a hook of %s', async (_which, hooks, ran) => {
    const lifecycle = [compaction({ maxMessages: 6, keep: 2, summarize: () => 'A summary.' })];
    const loaders = loadersOf(...hooks);
    const { agent, model } = agentWith(lab, hooksIn(lab, {}), { script, tools: [look], loaders, lifecycle });
    await agent.run('go');

    expect([...new Set(log())]).toEqual(ran);
    expect(JSON.stringify(model.requests)).not.toContain('A summary.');
  });
});

describe('`agent.close()` waits for the notification hooks that have started', () => {
  const slow = (word: string) => notes('notification', word, 'sleep 0.4;');

  test.each([
    ['a person is asked at once', [slow('one')], ['one']],
    ['several loaders have hooks', [slow('one'), slow('two')], ['one', 'two']],
  ])('if %s', async (_when, hooks, ran) => {
    const agent = await askOnce(loadersOf(...hooks));
    await agent.close();

    expect(log()).toEqual(ran);
  });

  test('if the run is suspended', async () => {
    const { tool } = countingTool('pay');
    const lifecycle = [approval({ tools: ['pay'] })];
    const loaders = loadersOf(slow('one'));
    const given = { script: [calls('pay', {})], tools: [tool], loaders, lifecycle };
    const { agent } = agentWith(lab, hooksIn(lab, {}), given);
    const { status } = await agent.run('go');
    await agent.close();

    expect([status, log()]).toEqual(['suspended', ['one']]);
  });
});
