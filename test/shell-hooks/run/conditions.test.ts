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
  return { inputs: bash.inputs, diagnostics: hooks.status().diagnostics };
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
