import type { LifecycleLoader } from 'keelson';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Runs one call of the shell tool with the hooks before the call, and returns the inputs that reached the tool. */
async function runCommand(groups: readonly object[], text: string) {
  const hooks = claudeHooks(lab, { PreToolUse: groups });
  const bash = countingTool('run_command');
  const script = [calls('run_command', { command: text }), says('ok')];
  await agentWith(lab, hooks, { script, tools: [bash.tool] }).agent.run('go');
  return { inputs: bash.inputs, ...hooks.status() };
}

const refuse = 'echo no >&2; exit 2';

describe('a hook with `if`', () => {
  const guard = { matcher: 'Bash', ...command(refuse, { if: 'Bash(git push *)' }) };

  test('runs only for calls that match the rule', async () => {
    const { inputs, diagnostics } = await runCommand([guard], 'git status');

    expect([inputs, diagnostics]).toEqual([[{ command: 'git status' }], []]);
    expect((await runCommand([guard], 'cd x && git push')).inputs).toEqual([]);
  });

  test('is reported and does not run if it joins several rules', async () => {
    const joined = { matcher: 'Bash', ...command(refuse, { if: 'Bash(git push *)|Bash(git commit *)' }) };
    const { inputs, diagnostics } = await runCommand([joined], 'git commit');

    expect(inputs).toHaveLength(1);
    expect(diagnostics).toMatchObject([{ level: 'error', code: 'hook-unsupported' }]);
    expect(diagnostics[0]?.message).toContain('must be one permission rule');
  });

  test.each([
    ['a wrong name', { matcher: 'Bash', if: 'bash(git push *)' }],
    ['the name of a tool that is not mapped', { matcher: '*', if: 'Shell(git push *)' }],
    ['a tool that the matcher does not select', { matcher: 'Bash', if: 'Write(*.ts)' }],
  ])('is reported as an error of the guard if its rule has %s', async (_title, { matcher, if: rule }) => {
    const { guards, diagnostics } = await runCommand([{ matcher, ...command(refuse, { if: rule }) }], 'git push');

    const problem = `the rule \`${rule}\` of hook "claude:PreToolUse#1" covers no tool that its matcher selects`;
    expect(diagnostics).toMatchObject([{ level: 'error', code: 'matcher-unknown' }]);
    expect(diagnostics[0]?.message).toContain(problem);
    expect(guards).toMatchObject([{ state: 'error', reason: 'its matcher and its rule select no tool of the agent' }]);
  });

  test('is reported at an event without a tool, where it never runs', async () => {
    const hooks = claudeHooks(lab, { UserPromptSubmit: [command(refuse, { if: 'Bash(git push *)' })] });
    await agentWith(lab, hooks, { script: [says('ok')], tools: [countingTool('run_command').tool] }).agent.run('go');

    expect(hooks.status().diagnostics).toMatchObject([{ level: 'error', code: 'matcher-unknown' }]);
    expect(hooks.status().guards).toMatchObject([{ state: 'error' }]);
  });

  test('is reported once for its file, without `toolNames`', async () => {
    const groups = [{ matcher: '*', ...command(refuse, { if: 'Bash(git push *)' }) }];
    const hooks = claudeHooks(lab, { PreToolUse: groups }, { toolNames: {} });
    const script = [calls('run_command'), says('ok')];
    await agentWith(lab, hooks, { script, tools: [countingTool('run_command').tool] }).agent.run('go');

    expect(hooks.status().diagnostics).toMatchObject([{ level: 'warning', code: 'tools-unnamed' }]);
    expect(hooks.status().guards).toMatchObject([{ state: 'error' }]);
  });

  test.each(['Edit(*.ts)', 'Bash', '*', 'mcp__sea', 'mcp__sea__look', 'mcp__*'])(
    'is not reported if its rule %s covers a tool, or one of a server that is not connected',
    async (rule) => {
      const hooks = claudeHooks(lab, { PreToolUse: [{ matcher: '*', ...command('true', { if: rule }) }] });
      const sea: LifecycleLoader = {
        name: 'sea',
        load: (host) => void host.use({ tools: { revision: 0, list: () => [], prefixes: () => ['mcp__sea__'] } }),
      };
      const tools = ['run_command', 'write_file'].map((name) => countingTool(name).tool);
      const script = [calls('run_command'), says('ok')];
      await agentWith(lab, hooks, { script, tools, loaders: [hooks, sea] }).agent.run('go');

      expect(hooks.status().diagnostics.filter(({ code }) => code === 'matcher-unknown')).toEqual([]);
      expect(hooks.status().guards).toMatchObject([{ state: 'active' }]);
    },
  );

  test('is tested with the arguments that an earlier hook has changed', async () => {
    const output = { hookSpecificOutput: { permissionDecision: 'allow', updatedInput: { command: 'git push' } } };
    const rewrite = { matcher: 'Bash', ...command(`echo '${JSON.stringify(output)}'`) };

    expect((await runCommand([rewrite, guard], 'ls')).inputs).toEqual([]);
  });
});

describe('the condition of a hook of the workspace', () => {
  const guard = { matcher: 'Bash', ...command('touch ran', { if: 'Bash(git push *)' }) };
  const call = (text: string) => [calls('run_command', { command: text }), says('ok')];
  const { tool } = countingTool('run_command');

  test('counts as true before the approval, and is tested after it', async () => {
    const asked: unknown[] = [];
    const approve = (request: unknown) => asked.push(request) > 0;
    const hooks = claudeHooks(lab, { PreToolUse: [guard] }, { approve });
    const { agent } = agentWith(lab, hooks, { script: [...call('ls'), ...call('git push')], tools: [tool] });

    await agent.run('go');
    expect([asked.length, lab.has('ran')]).toEqual([1, false]);
    await agent.run('go');
    expect([asked.length, lab.has('ran')]).toEqual([1, true]);
  });

  test.each([
    ['with nobody to ask', undefined],
    ['after a refusal', () => false],
  ])('is not tested %s', async (_title, approve) => {
    const condition = { toString: () => expect.fail('it was tested') };
    const hooks = claudeHooks(lab, { PreToolUse: [guard] }, { approve });
    const { agent } = agentWith(lab, hooks, { script: [...call('ls'), ...call('ls')], tools: [tool] });
    await agent.ready();
    for (const hook of hooks.registry.hooksOf('before_tool')) Object.assign(hook, { condition });

    await agent.run('go');
    await agent.run('go');

    expect(lab.has('ran')).toBe(false);
  });

  test('that has changed since the approval does not remove the guard in silence', async () => {
    const first = agentWith(lab, claudeHooks(lab, { PreToolUse: [guard] }), {
      script: call('git push'),
      tools: [tool],
    });
    await first.agent.run('go');
    const changed = { matcher: 'Bash', ...command('touch ran', { if: 'Bash(nothing)' }) };
    const hooks = claudeHooks(lab, { PreToolUse: [changed] }, { approve: undefined });
    const second = agentWith(lab, hooks, { script: call('git push'), tools: [tool] });
    lab.logs.length = 0;

    await second.agent.run('go');

    expect(lab.logged('error').map(({ message }) => message)).toEqual([expect.stringContaining('may not be used')]);
  });
});
