import { dirname } from 'node:path';
import { defineTool } from 'keelson';
import { type HookRegistration, HookRegistry, type ShellHooksOptions, shellHooks } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  agentWith,
  answers,
  countingTool,
  hooksIn,
  recorded,
  records,
  sh,
  useHookLab,
} from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const toolNames = { claude: { write: { name: 'Write', args: { path: 'file_path', text: 'content' } } } } as const;

/** Blocks each call whose `file_path` begins with `/etc`, as published guards do. */
const refusing = `case "$(cat)" in *'"tool_input":{'*'"file_path":"/etc'*) echo 'not in /etc' >&2; exit 2;; esac`;
const guard = { ...sh('before_tool', refusing, { matcher: 'Write' }), dialect: 'claude' } as const;

function recording(event: 'before_tool' | 'after_tool') {
  return { ...records(event), dialect: 'claude' } as const;
}

function writeTool() {
  const written: unknown[] = [];
  const tool = defineTool({
    name: 'write',
    description: 'Writes a file.',
    input: z.looseObject({ path: z.string(), text: z.string().optional() }),
    execute: (input) => {
      written.push(input);
      return 'written';
    },
  });
  return { tool, written };
}

async function writtenWith(options: ShellHooksOptions, input: object): Promise<readonly unknown[]> {
  const { tool, written } = writeTool();
  const script = [calls('write', input), says('Done.')];
  await agentWith(lab, hooksIn(lab, options), { script, tools: [tool] }).agent.run('go');
  return written;
}

describe('a guard of another program', () => {
  test('reads an argument under the name of that program', async () => {
    expect(await writtenWith({ hooks: [guard], toolNames }, { path: '/etc/passwd' })).toEqual([]);
    expect(await writtenWith({ hooks: [guard], toolNames }, { path: '/tmp/a' })).toEqual([{ path: '/tmp/a' }]);
  });

  test('reads the argument that the tool uses, even if the model adds one with the other name', async () => {
    const input = { path: '/etc/passwd', file_path: '/tmp/harmless' };

    expect(await writtenWith({ hooks: [guard], toolNames }, input)).toEqual([]);
    expect(
      await writtenWith({ hooks: [guard], toolNames }, Object.fromEntries(Object.entries(input).reverse())),
    ).toEqual([]);
  });

  test('changes arguments under the names of that program', async () => {
    const updatedInput = { file_path: '/tmp/b', content: 'new' };
    const output = { hookSpecificOutput: { updatedInput } };
    const change = { ...answers('before_tool', output), dialect: 'claude' } as const;

    expect(await writtenWith({ hooks: [change], toolNames }, { path: '/tmp/a' })).toEqual([
      { path: '/tmp/b', text: 'new' },
    ]);
  });

  test('changes single arguments under the names of that program', async () => {
    const names = { gemini: { write: { name: 'write_file', args: { path: 'file_path' } } } };
    const output = { hookSpecificOutput: { tool_input: { file_path: '/tmp/b' } } };
    const change = { ...answers('before_tool', output), dialect: 'gemini' } as const;

    expect(await writtenWith({ hooks: [change], toolNames: names }, { path: '/tmp/a', text: 'x' })).toEqual([
      { path: '/tmp/b', text: 'x' },
    ]);
  });

  test('reads a redacted argument as redacted under its other name', async () => {
    const options = { hooks: [recording('before_tool')], toolNames, sensitive: ['text'] };
    await writtenWith(options, { path: '/tmp/a', text: 'secret' });

    expect(recorded(lab)[0]).toMatchObject({ tool_name: 'Write', tool_input: { content: '[redacted]' } });
    expect(JSON.stringify(recorded(lab))).not.toContain('secret');
  });

  test('after the tool, reads the arguments under the names of that program, and your names in `data`', async () => {
    await writtenWith({ hooks: [recording('after_tool')], toolNames }, { path: '/tmp/a' });

    expect(recorded(lab)[0]).toMatchObject({ tool_input: { file_path: '/tmp/a' }, data: { args: { path: '/tmp/a' } } });
  });
});

describe('a hook of the package `plug`', () => {
  /** Calls a tool with a hook of the package. Returns the inputs of the tool. */
  async function called(tool: string, hook: HookRegistration, options: ShellHooksOptions = {}) {
    const registry = new HookRegistry();
    const root = dirname(lab.write('plug/README.md', ''));
    registry.register({ extension: 'plug', root, cwd: lab.workspace, scope: 'user', ...hook });
    const { tool: given, inputs } = countingTool(tool);
    const hooks = hooksIn(lab, { registry, approve: () => true, ...options });
    await agentWith(lab, hooks, { script: [calls(tool, {}), says('ok')], tools: [given] }).agent.run('go');
    return inputs;
  }

  test.each([
    ['claude', 'mcp__plug-few__look', 'mcp__plugin_plug_few__look'],
    ['claude', 'mcp__plug__look', 'mcp__plugin_plug_plug__look'],
    ['gemini', 'mcp__plug-few__look', 'mcp_few_look'],
    ['gemini', 'mcp__plug__look', 'mcp_plug_look'],
    ['cursor', 'mcp__plug-few__look', 'MCP:look'],
    ['native', 'mcp__plug-few__look', 'mcp__plug-few__look'],
    ['claude', 'mcp__other-few__look', 'mcp__other-few__look'],
    ['gemini', 'mcp__other-few__look', 'mcp_other-few_look'],
  ] as const)('of %s reads the tool %s as %s, before and after the call', async (dialect, tool, shown) => {
    await called(tool, { ...records('before_tool'), dialect });
    await called(tool, { ...records('after_tool'), dialect });

    expect(recorded(lab).map((input) => input.tool_name)).toEqual([shown, shown]);
    expect(recorded(lab)).toMatchObject([{ data: { tool_name: tool } }, { data: { tool_name: tool } }]);
  });

  test('refuses its own MCP tool by the name that its matcher has', async () => {
    const text = `case "$(cat)" in *'"tool_name":"mcp__plugin_plug_few__look"'*) echo no >&2; exit 2;; esac`;
    const own = { ...sh('before_tool', text, { matcher: 'mcp__plugin_plug_few__.*' }), dialect: 'claude' } as const;

    expect(await called('mcp__plug-few__look', own)).toEqual([]);
  });

  test('allows its own MCP tool at BeforeToolSelection by the name of Gemini CLI', async () => {
    const registry = new HookRegistry();
    const output = { hookSpecificOutput: { toolConfig: { allowedFunctionNames: ['mcp_few_look'] } } };
    const hook = { ...answers('before_tool_selection', output), dialect: 'gemini' } as const;
    registry.register({ extension: 'plug', root: lab.workspace, scope: 'user', ...hook });
    const tools = ['mcp__plug-few__look', 'mcp__few__look', 'mcp__other-few__look', 'look'].map(
      (name) => countingTool(name).tool,
    );
    const hooks = hooksIn(lab, { registry, approve: () => true });
    const { agent, model } = agentWith(lab, hooks, { script: [says('ok')], tools });
    await agent.run('go');
    const available_tools = tools.map(({ name }) => name);
    const alone = await hooks.runner.run('before_tool_selection', { available_tools });

    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['mcp__plug-few__look', 'mcp__few__look']);
    expect(alone.value).toEqual({ available_tools: ['mcp__plug-few__look', 'mcp__few__look'] });
  });

  test('reads the name in `toolNames` if there is one, and still matches by the other names', async () => {
    const names = { claude: { 'mcp__plug-few__look': 'Read' } };
    for (const matcher of ['Read', 'mcp__plugin_plug_few__look', 'mcp__few__look', 'mcp__plug-few__look']) {
      const hook = { ...records('before_tool', { matcher }), dialect: 'claude' } as const;
      await called('mcp__plug-few__look', hook, { toolNames: names });
    }

    expect(recorded(lab).map((input) => input.tool_name)).toEqual(['Read', 'Read', 'Read', 'Read']);
  });
});

test('the subject of a Cursor event is read from the mapped argument', async () => {
  const names = { cursor: { write: { name: 'Shell', args: { path: 'command' } } } };
  lab.write(
    '.cursor/hooks.json',
    JSON.stringify({ version: 1, hooks: { beforeShellExecution: [{ command: 'exit 2', matcher: '^rm' }] } }),
  );
  const options = { discover: ['cursor'], approve: () => true, toolNames: names } as const;

  expect(await writtenWith(options, { path: 'rm -r .' })).toEqual([]);
  expect(await writtenWith(options, { path: 'ls' })).toEqual([{ path: 'ls' }]);
});

describe('arguments that a mapped tool lacks', () => {
  async function warningsOf(names: NonNullable<ShellHooksOptions['toolNames']>): Promise<readonly string[]> {
    const hooks = hooksIn(lab, { hooks: [{ ...guard, matcher: '*' }], toolNames: names });
    const { agent } = agentWith(lab, hooks, { script: [says('one'), says('two')], tools: [writeTool().tool] });
    await agent.run('first');
    await agent.run('second');
    return hooks.status().diagnostics.flatMap(({ code, message }) => (code === 'args-unmapped' ? [message] : []));
  }

  test('cause one warning that names them', async () => {
    expect(await warningsOf({ claude: { write: 'Write' } })).toEqual([
      expect.stringContaining('"write", mapped to Write, has no file_path and no content'),
    ]);
    expect(await warningsOf({ claude: { write: { name: 'Write', args: { path: 'file_path' } } } })).toEqual([
      expect.stringContaining('"write", mapped to Write, has no content.'),
    ]);
  });

  test('are not reported if all are mapped, or if the name is not documented', async () => {
    expect(await warningsOf(toolNames)).toEqual([]);
    expect(await warningsOf({ claude: { write: 'Scribble' } })).toEqual([]);
    expect(await warningsOf({ gemini: { write: 'write_file' } })).toEqual([]);
  });
});

test.each([
  ['two arguments with one name', { write: { name: 'Write', args: { path: 'file', text: 'file' } } }],
  ['a mapping without a name', { write: { args: { path: 'file_path' } } }],
  ['an unknown member', { write: { name: 'Write', arguments: {} } }],
  ['an empty name', { write: '' }],
])('refuses %s', (_what, claude) => {
  expect(() => shellHooks({ toolNames: { claude } as never })).toThrow(/`toolNames\.claude\.write` must be the name/);
});

test('refuses an unknown dialect', () => {
  expect(() => shellHooks({ toolNames: { cluade: {} } as never })).toThrow(/unknown option `toolNames\.cluade`/);
});
