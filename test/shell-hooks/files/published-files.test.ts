import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShellHooksOptions } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test, vi } from 'vitest';
import { growth } from '../../support/growth.js';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, answers, countingTool, hooksIn, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

// Features that users with existing hook files are likely to try first.
const lab = useHookLab();
const given = (file: string) => JSON.parse(lab.read(file));

function gemini(hooks: object, options: ShellHooksOptions = {}) {
  lab.write('.gemini/settings.json', JSON.stringify({ hooks }));
  const toolNames = { gemini: { run_command: 'run_shell_command' } };
  return hooksIn(lab, { discover: ['gemini'], approve: () => true, toolNames, ...options });
}
const answer = (output: object) => command(`cat > /dev/null; echo '${JSON.stringify(output)}'`, { timeout: 5_000 });
const slow = (text: string) => command(text, { timeout: 5_000 });

/** Returns how often the guarded tool ran. */
async function runsPast(hooks: ReturnType<typeof hooksIn>): Promise<number> {
  const { tool, inputs } = countingTool('run_command');
  const script = [calls('run_command', { command: 'rm -rf build' }), says('ok')];
  await agentWith(lab, hooks, { script, tools: [tool] }).agent.run('go');
  return inputs.length;
}

describe('a guard written for bash', () => {
  const guard = 'text=$(cat); if [[ "$text" == *"rm -rf"* ]]; then echo no >&2; exit 2; fi';

  test.each<[string, () => ReturnType<typeof hooksIn>]>([
    ['Gemini CLI', () => gemini({ BeforeTool: [slow(guard)] })],
    ['Claude Code', () => claudeHooks(lab, { PreToolUse: [command(guard)] })],
    ['Claude Code, with `shell` set', () => claudeHooks(lab, { PreToolUse: [command(guard, { shell: 'bash' })] })],
    [
      'Keelson',
      () =>
        hooksIn(lab, { hooks: [{ event: 'before_tool', name: 'g', command: guard, shell: 'bash', exitCodes: true }] }),
    ],
  ])('blocks the tool call, in the format of %s', async (_whose, hooks) => {
    expect(await runsPast(hooks())).toBe(0);
  });

  test('runs in /bin/sh if bash is missing', async () => {
    vi.stubEnv('PATH', join(lab.workspace, 'nowhere'));

    expect(await runsPast(claudeHooks(lab, { PreToolUse: [command('echo no >&2; exit 2')] }))).toBe(0);
  });
});

test('an unapproved command does not replace the same command of the host', async () => {
  const document = JSON.stringify({ hooks: { PreToolUse: [command('echo no >&2; exit 2')] } });
  lab.write('.claude/settings.json', document);
  const own = join(lab.home, 'guard.json');
  writeFileSync(own, document);

  expect(await runsPast(hooksIn(lab, { discover: ['claude'], files: [{ path: own, dialect: 'claude' }] }))).toBe(0);
});

test('does not stream text before an AfterModel hook could rewrite it', async () => {
  const hooks = gemini({ AfterModel: [answer({ hookSpecificOutput: { llm_response: { text: '[redacted]' } } })] });
  const { agent } = agentWith(lab, hooks, { script: [says('the key is 42')] });
  const shown: string[] = [];
  for await (const event of agent.stream('go')) if (event.type === 'text-delta') shown.push(event.text);

  expect(shown.join('')).toBe('[redacted]');
});

test('streams text until an after_model hook is registered, and then waits for the hook', async () => {
  const hooks = gemini({ BeforeAgent: [slow('true')] });
  const { agent } = agentWith(lab, hooks, { script: says('the key is 42') as never });
  const hook = { name: 'r', command: `echo '{"hookSpecificOutput":{"llm_response":{"text":"x"}}}'`, shell: true };
  const shown = async () => {
    let text = '';
    for await (const event of agent.stream('go')) if (event.type === 'text-delta') text += event.text;
    return text;
  };

  expect(await shown()).toBe('the key is 42');
  hooks.registry.register({ event: 'after_model', name: 'log', command: 'true' });
  expect(await shown()).toBe('the key is 42');
  hooks.registry.register({ event: 'after_model', dialect: 'gemini', ...hook });
  expect(await shown()).toBe('x');
});

test('stops at 1,000 diagnostics for one hook file', async () => {
  const name = 'before_'.repeat(400_000);
  lab.write('.keelson/hooks.json', JSON.stringify({ hooks: { [name]: [], before_tool: Array(500_000).fill(1) } }));
  const hooks = hooksIn(lab, { discover: ['native'] });
  await hooks.reload();

  expect(lab.logged('error').length).toBe(1_001);
  expect(lab.logged('error').at(-1)?.message).toContain('it has more than 1000 errors');
});

const HOOK = { event: 'before_tool', name: 'a', command: 'true' };

test.each([
  ['a device', (path: string) => symlinkSync('/dev/zero', path)],
  ['a pipe', (path: string) => void execFileSync('mkfifo', [path])],
  ['a directory', (path: string) => void mkdirSync(path)],
  ['a list of 1,001 hooks', (path: string) => writeFileSync(path, JSON.stringify({ hooks: Array(1_001).fill(HOOK) }))],
])('%s in place of a hook file is reported without blocking', async (_what, make) => {
  mkdirSync(join(lab.workspace, '.keelson'));
  make(join(lab.workspace, '.keelson/hooks.json'));
  const hooks = hooksIn(lab, { discover: ['native'] });
  await hooks.reload();

  expect(hooks.status().diagnostics).toMatchObject([{ level: 'error', code: 'file-unreadable' }]);
});

test('Gemini CLI hooks get the tool result in llmContent and the prompt of the run', async () => {
  const hooks = gemini({ AfterTool: [slow('cat > tool.json')], AfterAgent: [slow('cat > agent.json')] });
  const { tool } = countingTool('run_command', () => 'a\nb');
  const script = [calls('run_command', {}), says('ok')];
  await agentWith(lab, hooks, { script, tools: [tool] }).agent.run('list it');

  expect(given('tool.json').tool_response).toMatchObject({ llmContent: 'a\nb', returnDisplay: 'a\nb' });
  expect(given('agent.json')).toMatchObject({ prompt: 'list it', prompt_response: 'ok' });
});

test('a PostToolUseFailure hook gets the error of the tool', async () => {
  const hooks = claudeHooks(lab, { PostToolUseFailure: [command('cat > failure.json')] });
  const { tool } = countingTool('run_command', () => {
    throw new Error('the disk is full');
  });
  const script = [calls('run_command', {}), says('ok')];
  await agentWith(lab, hooks, { script, tools: [tool] }).agent.run('go');

  expect(given('failure.json').error).toContain('the disk is full');
});

test('an AfterTool hook that replaces the result by a field that Gemini CLI does not have is reported', async () => {
  const hooks = gemini({ AfterTool: [answer({ hookSpecificOutput: { tool_output: 'without names' } })] });
  const { agent, model } = agentWith(lab, hooks, {
    script: [calls('run_command', {}), says('ok')],
    tools: [countingTool('run_command', () => 'Ann, Bob').tool],
  });
  await agent.run('go');

  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ content: 'Ann, Bob' }] });
  expect(hooks.status().diagnostics[0]?.message).toContain('`tool_output`');
});

test('reports a Gemini CLI field that has no effect here, once per hook', async () => {
  const tail = { tailToolCallRequest: { name: 'read_file', args: {} }, clearContext: false };
  const model = { llm_request: { model: 'gemini-9' } };
  const hooks = gemini({
    AfterTool: [answer({ hookSpecificOutput: tail })],
    AfterAgent: [answer({ hookSpecificOutput: { clearContext: true } })],
    BeforeModel: [answer({ hookSpecificOutput: model })],
  });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('run_command', {}), calls('run_command', {}), says('ok')],
    tools: [countingTool('run_command').tool],
  });
  await agent.run('go');

  expect(hooks.status().diagnostics.map(({ code, message }) => `${code} ${/`(\w+)`/.exec(message)?.[1]}`)).toEqual([
    'output-unsupported tailToolCallRequest',
    'output-unsupported hookSpecificOutput',
  ]);
  expect(lab.logged('warn').some(({ message }) => message.includes('"gemini-9"'))).toBe(true);
});

test.each([
  [{ decision: 'block', reason: 'no' }, ['decision']],
  [{ hookSpecificOutput: { permissionDecision: 'deny' } }, ['hookSpecificOutput']],
  [{ decision: 'a berth in the north', data: { hookSpecificOutput: {} } }, []],
])(
  'a native hook that writes a field of another program is reported, and the field is only data: %j',
  async (output, words) => {
    const hooks = hooksIn(lab, { hooks: [answers('before_tool', output)] });

    expect(await runsPast(hooks)).toBe(1);
    expect(hooks.status().diagnostics.map(({ code, message }) => `${code} ${/`(\w+)`/.exec(message)?.[1]}`)).toEqual(
      words.map((word) => `output-unsupported ${word}`),
    );
  },
);

test('a tool limit may contain the Gemini CLI names of tools', async () => {
  const limit = { toolConfig: { mode: 'AUTO', allowedFunctionNames: ['run_shell_command', 'mcp_files_read'] } };
  const hooks = gemini({ BeforeToolSelection: [answer({ hookSpecificOutput: limit })] });
  const names = ['run_command', 'mcp__files__read', 'other'];
  const tools = names.map((name) => countingTool(name).tool);
  const { agent, model } = agentWith(lab, hooks, { script: [says('ok')], tools });
  await agent.run('go');

  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['run_command', 'mcp__files__read']);
});

test('ignores `once` in a settings file', async () => {
  const hooks = claudeHooks(lab, { PreToolUse: [command('echo no >&2; exit 2', { once: true })] });

  expect([await runsPast(hooks), await runsPast(claudeHooks(lab, {}))]).toEqual([0, 1]);
});

describe('a refusal counts even if the output has invalid fields,', () => {
  const no = (output: object) => `cat > /dev/null; echo '${JSON.stringify(output)}'`;
  const deny = { permissionDecision: 'deny', permissionDecisionReason: 'no', additionalContext: ['x'] };

  test.each<[string, () => ReturnType<typeof hooksIn>]>([
    ['native', () => hooksIn(lab, { hooks: [sh('before_tool', no({ continue: false, reason: { code: 1 } }))] })],
    ['claude', () => claudeHooks(lab, { PreToolUse: [command(no({ hookSpecificOutput: deny }))] })],
    ['claude', () => claudeHooks(lab, { PreToolUse: [command(no({ decision: 'block', reason: 5 }))] })],
    ['gemini', () => gemini({ BeforeTool: [answer({ decision: 'deny', systemMessage: {} })] })],
  ])('in the %s dialect: case %#', async (_dialect, make) => {
    const hooks = make();

    expect(await runsPast(hooks)).toBe(0);
    expect(hooks.status().hooks.map(({ failures }) => failures)).toEqual([1]);
  });
});

test('accepts comments in Gemini CLI settings', async () => {
  const guard = command('echo "no // /* no */" >&2; exit 2', { timeout: 5_000 });
  lab.write(
    '.gemini/settings.json',
    `{ // mine "\n "hooks": /* all * of them */ { "BeforeTool": [${JSON.stringify(guard)}] } /* "end" **/ } /*`,
  );

  expect(await runsPast(hooksIn(lab, { discover: ['gemini'], approve: () => true }))).toBe(0);
});

test.each(['/*', '"\\', '/', '/**', '"'])('reads a settings file that repeats %j in linear time', async (piece) => {
  const reload = (size: number) => () => {
    lab.write('.gemini/settings.json', piece.repeat(size));
    return hooksIn(lab, { discover: ['gemini'] }).reload();
  };

  expect(await growth(20_000, reload)).toBeLessThan(100);
});
