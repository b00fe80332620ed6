import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from 'keelson';
import type { HookRegistration, ShellHooksOptions } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

// Guards as people publish them. None may be dropped without a report.
const lab = useHookLab();

const deny = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } };
const no = JSON.stringify({ decision: 'deny', reason: 'not here' });
const prints = (text: string, more = '') => `cat > /dev/null; printf '%s' '${text}'${more}`;

const claude = (...groups: object[]) => claudeHooks(lab, { PreToolUse: groups });

function gemini(...groups: object[]) {
  lab.write('.gemini/settings.json', JSON.stringify({ hooks: { BeforeTool: groups } }));
  return hooksIn(lab, { discover: ['gemini'], approve: () => true });
}
const slow = (text: string, more: object = {}) => command(text, { timeout: 5_000, ...more });

async function runsPast(hooks: ReturnType<typeof hooksIn>): Promise<number> {
  const { tool, inputs } = countingTool('run_command');
  const script = [calls('run_command', { command: 'ls' }), says('ok')];
  await agentWith(lab, hooks, { script, tools: [tool] }).agent.run('go');
  return inputs.length;
}

describe('a guard that refuses and then fails', () => {
  test.each([
    ['Claude Code', () => claude(command(prints(JSON.stringify(deny), '; exit 1')))],
    ['Gemini CLI', () => gemini(slow(prints(no, '; exit 3')))],
  ])('blocks the tool call and is not reported as broken, in a file of %s', async (_whose, make) => {
    const hooks = make();

    expect(await runsPast(hooks)).toBe(0);
    expect(hooks.status().hooks.map(({ failures }) => failures)).toEqual([0]);
    expect(hooks.status().diagnostics.filter(({ code }) => code === 'gate-broken')).toEqual([]);
  });

  test('blocks the tool call even if it hangs after its refusal', async () => {
    expect(await runsPast(claude(command(prints(JSON.stringify(deny), '; sleep 60'), { timeout: 0.3 })))).toBe(0);
  });

  test('with exit code 1 has no effect apart from a refusal', async () => {
    const rewrites = { hookSpecificOutput: { updatedInput: { command: 'rm' }, additionalContext: 'psst' } };
    const hooks = claude(command(prints(JSON.stringify(rewrites), '; exit 1')));
    const { tool, inputs } = countingTool('run_command');
    const script = [calls('run_command', { command: 'ls' }), says('ok')];
    const { agent, model } = agentWith(lab, hooks, { script, tools: [tool] });
    await agent.run('go');

    expect(inputs).toEqual([{ command: 'ls' }]);
    expect(JSON.stringify(model.requests)).not.toContain('psst');
    expect(hooks.status().hooks.map(({ failures }) => failures)).toEqual([1]);
  });
});

async function askedAfter(hooks: ReturnType<typeof hooksIn>): Promise<string> {
  const { tool } = countingTool('run_command');
  const script = [calls('run_command', { command: 'ls' }), says('ok')];
  const { agent, model } = agentWith(lab, hooks, { script, tools: [tool] });
  await agent.run('go');
  return JSON.stringify(model.requests.at(-1)?.messages);
}

test.each(['', '; exit 1', '; kill -9 $$'])(
  'the model reads the refusal of a result even if the hook also fails with %j',
  async (end) => {
    const text = prints(JSON.stringify({ decision: 'block', reason: 'the tests fail', systemMessage: 5 }), end);

    expect(await askedAfter(claudeHooks(lab, { PostToolUse: [command(text)] }))).toContain('the tests fail');
  },
);

test('exit code 1 does not refuse, and a rewritten result or a Stop message with it is ignored', async () => {
  const rewritten = { hookSpecificOutput: { updatedToolOutput: 'psst', tool_output: 'psst' } };
  const told = { hookSpecificOutput: { additionalContext: 'psst' } };
  const hooks = claudeHooks(lab, {
    PostToolUse: [command(prints(JSON.stringify(rewritten), '; exit 1'))],
    Stop: [command(prints(JSON.stringify(told), '; exit 1'))],
  });

  expect(await askedAfter(hooks)).not.toContain('psst');
  expect(hooks.status().hooks.map(({ failures }) => failures)).toEqual([1, 1]);
});

test('the refusal of a Gemini CLI hook counts even if its llm_response has invalid parts', async () => {
  const odd = { toString: 1 };
  const response = { llm_response: { candidates: [{ content: { parts: [odd, { text: odd }] } }] } };
  const text = prints(JSON.stringify({ decision: 'deny', reason: 'not now', hookSpecificOutput: response }));
  lab.write('.gemini/settings.json', JSON.stringify({ hooks: { BeforeModel: [slow(text)] } }));
  const { agent } = agentWith(lab, hooksIn(lab, { discover: ['gemini'], approve: () => true }), {
    script: [says('ok')],
  });

  await expect(agent.run('go')).rejects.toMatchObject({ code: 'ERR_RUN_REJECTED' });
});

test.each([
  { decision: 'block', hookSpecificOutput: { permissionDecision: 'allow' } },
  { decision: 'approve', hookSpecificOutput: { permissionDecision: 'deny' } },
])('a refusal wins over a permission in the same output: %j', async (output) => {
  expect(await runsPast(claude(command(prints(JSON.stringify(output)))))).toBe(0);
});

describe('a refusal of a Claude Code hook after a log line', () => {
  const late = prints(`checking\n${JSON.stringify(deny)}`);

  test('counts, and the invalid output is logged', async () => {
    const hooks = claude(command(late));

    expect(await runsPast(hooks)).toBe(0);
    expect(hooks.status().diagnostics.filter(({ code }) => code === 'gate-broken')).toEqual([]);
    expect(lab.logged('error')).toHaveLength(1);
  });

  test('counts with onFailure block', async () => {
    expect(await runsPast(claude(command(late, { onFailure: 'block' })))).toBe(0);
  });

  test('is not assumed if the JSON after the log line does not refuse', async () => {
    const hooks = claude(command(prints('checking\n{"continue":true}'), { onFailure: 'block' }));

    expect([await runsPast(hooks), lab.logged('error')]).toEqual([1, []]);
  });
});

test('the refusal of a result replaces the result with Codex, and is added to it with Claude Code', async () => {
  const hook = command(`${prints('')}; echo "leaks a key" >&2; exit 2`);
  const toolNames = { claude: {}, codex: {} };
  lab.write('.codex/hooks.json', JSON.stringify({ hooks: { PostToolUse: [hook] } }));
  lab.write('.claude/settings.json', JSON.stringify({ hooks: { PostToolUse: [hook] } }));
  const sees = async (dialect: 'claude' | 'codex') => {
    const asked = await askedAfter(hooksIn(lab, { discover: [dialect], approve: () => true, toolNames }));
    return ['leaks a key', '"done"'].map((text) => asked.includes(text));
  };

  expect([await sees('codex'), await sees('claude')]).toEqual([
    [true, false],
    [true, true],
  ]);
});

test('a guard with a timeout above the timer limit still runs', async () => {
  expect(await runsPast(claude(command('exit 2', { timeout: 3_600_000 })))).toBe(0);
});

test.each([
  ['claude', 'PreToolUse', `"\${CLAUDE_PLUGIN_ROOT}/guard.sh"`],
  ['claude', 'PreToolUse', `cd "\${CLAUDE_PLUGIN_ROOT}" && ./guard.sh`],
  ['claude', 'PreToolUse', `bash -c '"\${CLAUDE_PLUGIN_ROOT}"/guard.sh'`],
  ['gemini', 'BeforeTool', `bash "\${extensionPath}\${/}guard.sh"`],
  ['gemini', 'BeforeTool', `bash "\${extensionPath}\${pathSeparator}guard.sh"`],
] as const)('finds a %s guard of an extension in a directory with special characters: %s %s', async (...hook) => {
  const [dialect, event, text] = hook;
  const folder = `the "$(touch pwned)" \`touch pwned\` 'tool`;
  lab.write(`../home/${folder}/guard.sh`, '#!/bin/sh\nexit 2\n');
  const path = lab.write('../home/hooks.json', JSON.stringify({ hooks: { [event]: [slow(text)] } }));
  const file = { path, dialect, root: join(lab.home, folder), extension: 'x' };

  expect([await runsPast(hooksIn(lab, { files: [file] })), lab.has('pwned')]).toEqual([0, false]);
});

test('accepts a JSON string that contains JSON as output of a Gemini CLI hook', async () => {
  expect(await runsPast(gemini(slow(prints(JSON.stringify(no)))))).toBe(0);
});

test('reads JSON on standard error of a Gemini CLI hook if standard output is empty', async () => {
  expect(await runsPast(gemini(slow(`${prints(no)} >&2`)))).toBe(0);
  expect(await runsPast(gemini(slow(`${prints('{}')}; ${prints(no)} >&2`)))).toBe(1);
  expect(await runsPast(gemini(slow('echo "a log" >&2')))).toBe(1);
  expect(lab.logged('error')).toEqual([]);
});

test('the same command with different environment variables is a different hook', async () => {
  const guard = 'if [ "$MODE" = strict ]; then echo no >&2; exit 2; fi';

  expect(await runsPast(gemini(slow(guard, { env: { MODE: 'lax' } }), slow(guard, { env: { MODE: 'strict' } })))).toBe(
    0,
  );
});

test('ignores spaces around a matcher', async () => {
  const guard = { matcher: ' run_command ', ...slow('exit 2') };

  expect(await runsPast(gemini(guard))).toBe(0);
  expect(await runsPast(gemini({ matcher: ' * ', ...slow('exit 2') }))).toBe(0);
});

test('accepts an invalid matcher at an event that ignores matchers', async () => {
  const hooks = claudeHooks(lab, { UserPromptSubmit: [{ matcher: '**', ...command('exit 2') }] });
  const { agent } = agentWith(lab, hooks, { script: [says('ok')] });

  await expect(agent.run('go')).rejects.toMatchObject({ code: 'ERR_RUN_REJECTED' });
});

test('ignores shell in a hook with args', async () => {
  const guard = { type: 'command', command: 'sh', args: ['-c', 'exit 2'], shell: 'powershell', timeout: 5 };

  expect(await runsPast(claude({ hooks: [guard] }))).toBe(0);
});

test('additionalContext of a Stop hook makes the agent continue, at most eight times', async () => {
  const told = { hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'run the tests first' } };
  const { agent, model } = agentWith(lab, claudeHooks(lab, { Stop: [command(prints(JSON.stringify(told)))] }), {
    script: says('done') as never,
    maxTurns: 50,
  });
  await agent.run('go');

  expect(model.requests).toHaveLength(9);
  expect(textOf(model.requests[1]?.messages.at(-1) as never)).toContain('run the tests first');
});

test('expands the variable of a project directory whose name contains $&', async () => {
  const workspaceDir = join(lab.workspace, "$&$$'");
  mkdirSync(workspaceDir);
  const hook = { command: 'sh', args: ['-c', 'echo "$0" >&2; exit 2', `\${CLAUDE_PROJECT_DIR}`], dialect: 'claude' };
  const hooks = hooksIn(lab, {
    workspaceDir,
    hooks: [{ event: 'before_tool', name: 'g', ...hook } as HookRegistration],
  });
  const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;

  expect((await hooks.runner.runEvent(occasion)).reason).toBe(workspaceDir);
});

test('a BeforeModel hook gets the request as the previous hook changed it, and does not undo the change', async () => {
  const edits = (edit: string) => `node -e '
    const { llm_request } = JSON.parse(require("fs").readFileSync(0));
    const messages = llm_request.messages${edit};
    console.log(JSON.stringify({ hookSpecificOutput: { llm_request: { messages } } }));'`;
  const hooks = [
    edits('.map((m) => ({ ...m, content: m.content.replace("sesame", "[secret]") }))'),
    edits('.concat({ role: "user", content: "be brief" })'),
  ];
  lab.write('.gemini/settings.json', JSON.stringify({ hooks: { BeforeModel: hooks.map((text) => slow(text)) } }));
  const { agent, model } = agentWith(lab, hooksIn(lab, { discover: ['gemini'], approve: () => true }), {
    script: [says('ok')],
    instructions: 'Serve.',
  });
  await agent.run('open sesame');

  expect(model.requests[0]?.messages.map(textOf)).toEqual(['Serve.', 'open [secret]', 'be brief']);
});

test('reports a hook file once if its matchers name foreign tools and toolNames is missing', async () => {
  const group = (matcher: string) => ({ matcher, ...command('exit 2') });
  const said = async (matchers: readonly string[], options: ShellHooksOptions = {}) => {
    const hooks = claudeHooks(lab, { PreToolUse: matchers.map(group) }, { toolNames: {}, ...options });
    await agentWith(lab, hooks, { script: [says('ok')] }).agent.run('go');
    return hooks.status().diagnostics.map(({ level, code }) => `${level} ${code}`);
  };

  expect(await said(['Bash', 'Edit|Write'])).toEqual(['warning tools-unnamed']);
  expect(await said(['', '*', '.*', 'mcp__files__.*'])).toEqual([]);
  expect(await said(['Bash'], { toolNames: { claude: {} } })).toEqual(['error matcher-unknown']);
});

test('leaves out and reports a command that uses CLAUDE_PLUGIN_DATA outside of a plugin', async () => {
  const hooks = claude(command('rm -rf "$CLAUDE_PLUGIN_DATA/cache"; touch ran'));

  expect(await runsPast(hooks)).toBe(1);
  expect([hooks.status().hooks, lab.has('ran')]).toEqual([[], false]);
  expect(hooks.status().diagnostics).toMatchObject([{ level: 'error', code: 'hook-unsupported' }]);
});

test('leaves out and reports a Codex command that uses PLUGIN_DATA outside of a plugin', async () => {
  const hook = command('rm -rf "$PLUGIN_DATA/cache"; touch ran');
  lab.write('.codex/hooks.json', JSON.stringify({ hooks: { PreToolUse: [hook] } }));
  const hooks = hooksIn(lab, { discover: ['codex'], approve: () => true });

  expect([await runsPast(hooks), lab.has('ran')]).toEqual([1, false]);
  expect(hooks.status().diagnostics).toMatchObject([{ level: 'error', code: 'hook-unsupported' }]);
});

const files = [
  ['native', '.keelson/hooks.json', 'before_tool'],
  ['claude', '.claude/settings.json', 'PreToolUse'],
  ['codex', '.codex/hooks.json', 'PreToolUse'],
  ['gemini', '.gemini/settings.json', 'BeforeTool'],
] as const;

test.each(files)('reports guards that are lost because a key is repeated in a %s file', async (...file) => {
  const [dialect, path, event] = file;
  const [guard, none] = [JSON.stringify([command('exit 2')]), '[]'];
  const said = async (text: string) => {
    lab.write(path, text);
    const hooks = hooksIn(lab, { discover: [dialect] });
    await hooks.reload();
    return hooks.status().diagnostics.map(({ level, code, message }) => [level, code, message.includes('repeated')]);
  };
  const lost = [['error', 'hooks-invalid', true]];

  expect(await said(`{"hooks":{"${event}":${guard},"${event}":${none}}}`)).toEqual(lost);
  expect(await said(`{"hooks":{"${event}":${guard}},"hooks":{}}`)).toEqual(lost);
  expect(await said(`{"env":{"A":"1","A":"2"},"env":{},"hooks":{"${event}":${none}}}`)).not.toContainEqual(lost[0]);
});

test('an invalid entry is reported and does not affect other hooks of the file', async () => {
  const entry = { event: { toString: 1 }, name: 'odd', command: 'true' };
  lab.write('.keelson/hooks.json', JSON.stringify({ hooks: { before_tool: [entry, { name: 'g', command: 'true' }] } }));
  const hooks = hooksIn(lab, { discover: ['native'] });
  await hooks.reload();

  expect(hooks.status().hooks.map(({ name }) => name)).toEqual(['g']);
  expect(hooks.status().diagnostics).toMatchObject([{ level: 'error', code: 'hook-invalid', hook: 'odd' }]);
});

test.each(files)('reports events that are outside of `hooks` in a %s file', async (dialect, path, event) => {
  lab.write(path, JSON.stringify({ [event]: [command('exit 2')] }));
  const hooks = hooksIn(lab, { discover: [dialect] });
  await hooks.reload();

  expect(hooks.status().diagnostics).toMatchObject([{ level: 'error', code: 'hooks-invalid' }]);
});
