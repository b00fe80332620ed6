import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { calls, type ScriptEntry, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

function files(): readonly string[] {
  const folder = join(lab.home, '.keelson/sessions/transcripts');
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Copies the transcript of a hook to the workspace. */
const COPY = command(`path=$(sed -E 's/.*"transcript_path":"([^"]*)".*/\\1/'); cp "$path" copy.jsonl`);

function agentOf(hooks: object, script: readonly ScriptEntry[]) {
  const loader = claudeHooks(lab, hooks, { transcript: 'claude' });
  return agentWith(lab, loader, { script, tools: [countingTool('look').tool] }).agent;
}

describe('the transcript of a run without a session', () => {
  test('is removed before the run ends', async () => {
    const agent = agentOf({ PreToolUse: [COPY], Stop: [COPY] }, [calls('look', {}), says('A.'), says('B.')]);
    await agent.run('one');
    const after = files();
    await agent.run('two');

    expect(lab.read('copy.jsonl')).toContain('B.');
    expect([after, files()]).toEqual([[], []]);
  });

  test.each<[string, object, readonly ScriptEntry[]]>([
    ['fails', { PreToolUse: [COPY] }, [calls('look', {})]],
    [
      'is ended by a hook',
      { PreToolUse: [COPY], PostToolUse: [command('echo \'{"continue":false}\'')] },
      [calls('look', {})],
    ],
    ['is refused by a prompt hook', { UserPromptSubmit: [COPY, command('echo no >&2; exit 2')] }, [says('A.')]],
  ])('is removed before a run that %s', async (_end, hooks, script) => {
    await expect(agentOf(hooks, script).run('one')).rejects.toThrow();

    expect(lab.has('copy.jsonl')).toBe(true);
    expect(files()).toEqual([]);
  });

  test('is removed before an aborted run ends', async () => {
    const controller = new AbortController();
    const { tool } = countingTool('look', () => controller.abort());
    const loader = claudeHooks(lab, { PreToolUse: [COPY] }, { transcript: 'claude' });
    const { agent } = agentWith(lab, loader, { script: [calls('look', {}), says('A.')], tools: [tool] });

    await expect(agent.run('one', { signal: controller.signal })).rejects.toThrow();
    expect(lab.has('copy.jsonl')).toBe(true);
    expect(files()).toEqual([]);
  });

  test.each(['Stop', 'PostToolUse'])('is not written again for a hook at %s in the background', async (event) => {
    const late = command('cat > input.json; mv input.json late.json', { async: true });
    const agent = agentOf({ [event]: [late] }, [calls('look', {}), says('A.')]);
    await agent.run('one');

    await expect.poll(() => lab.has('late.json'), { timeout: 10_000 }).toBe(true);
    expect(files()).toEqual([]);
  });
});

test('the transcript of a session stays, also for a hook in the background', async () => {
  const late = command('cat > input.json; mv input.json late.json', { async: true });
  const agent = agentOf({ Stop: [late] }, [says('A.')]);
  await (await agent.session({ id: 's1' })).run('one');

  await expect.poll(() => lab.has('late.json'), { timeout: 10_000 }).toBe(true);
  expect(files()).toEqual(['s1.jsonl']);
});
