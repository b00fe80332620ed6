import { type HookDefinition, type ShellHooksOptions, shellHooks } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
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
const reading = { ...records('after_tool'), dialect: 'claude' } as const;

interface Call extends ShellHooksOptions {
  readonly tool: string;
  readonly args?: object;
  readonly result: unknown;
}

/** Calls a tool and returns the messages that the model reads. */
async function called({ tool, args = {}, result, ...options }: Call) {
  const { tool: given } = countingTool(tool, () => {
    if (result instanceof Error) throw result;
    return result;
  });
  const hooks = hooksIn(lab, { hooks: [reading as HookDefinition], toolNames: { claude: {} }, ...options });
  const { agent } = agentWith(lab, hooks, { script: [calls(tool, args), says('ok')], tools: [given] });
  return (await agent.run('go')).messages;
}

/** Returns the `tool_response` that a hook of Claude Code reads. */
async function responseOf(call: Call): Promise<unknown> {
  await called(call);
  return recorded(lab).at(-1)?.tool_response;
}

describe('a hook of Claude Code after a tool', () => {
  test('refuses a result by its standard output', async () => {
    const text = `case "$(cat)" in *'"stdout":"1 test FAILED"'*) echo 'fix the tests' >&2; exit 2;; esac`;
    const guard = { ...sh('after_tool', text), dialect: 'claude' } as HookDefinition;
    const messages = await called({ tool: 'Bash', result: '1 test FAILED', hooks: [guard] });

    expect(JSON.stringify(messages)).toContain('fix the tests');
  });

  test.each<[string, Call, object]>([
    ['text', { tool: 'Bash', result: 'a\nb' }, { stdout: 'a\nb', stderr: '', interrupted: false, isImage: false }],
    ['an error', { tool: 'Bash', result: new Error('boom') }, { stdout: '', stderr: expect.stringContaining('boom') }],
    ['one stream', { tool: 'Bash', result: { stderr: 'e', code: 1 } }, { stdout: '', stderr: 'e', code: 1 }],
    [
      'all streams',
      { tool: 'Bash', result: { stdout: 'o', stderr: 'e', interrupted: true, isImage: false } },
      { stdout: 'o', stderr: 'e', interrupted: true },
    ],
    ['other data', { tool: 'Bash', result: { output: 'o' } }, { stdout: '{"output":"o"}', output: 'o' }],
    ['a list', { tool: 'Bash', result: [1, 2] }, { stdout: '[1,2]', structured: [1, 2] }],
  ])('reads the streams of Bash from %s', async (_kind, call, expected) => {
    expect(await responseOf(call)).toMatchObject(expected);
  });

  test.each<[Call, object]>([
    [
      { tool: 'Write', args: { file_path: '/a', content: 'x' }, result: 'done' },
      { filePath: '/a', success: true },
    ],
    [
      { tool: 'Write', args: { file_path: '/a' }, result: new Error('full') },
      { filePath: '/a', success: false },
    ],
    [
      { tool: 'Edit', args: { file_path: '/a', old_string: 'x', new_string: 'y' }, result: 'done' },
      { filePath: '/a', success: true, oldString: 'x', newString: 'y', replaceAll: false },
    ],
    [
      { tool: 'Edit', args: { file_path: '/a' }, result: { filePath: '/real/a', structuredPatch: [] } },
      { filePath: '/real/a', structuredPatch: [] },
    ],
    [
      { tool: 'Read', args: { file_path: '/a' }, result: 'text' },
      { type: 'text', file: { filePath: '/a', content: 'text' } },
    ],
    [
      { tool: 'WebFetch', args: { url: 'https://a.b' }, result: 'page' },
      { url: 'https://a.b', result: 'page' },
    ],
    [
      { tool: 'mcp__files__list', result: { names: ['a'] } },
      { content: '{"names":["a"]}', names: ['a'] },
    ],
  ])('reads the documented fields of the call %j', async (call, expected) => {
    expect(await responseOf(call)).toMatchObject(expected);
  });

  test('reads the fields of a mapped tool, and the fields of Keelson beside them', async () => {
    const toolNames = { claude: { save: { name: 'Write', args: { path: 'file_path' } }, run: 'Bash' } };
    const written = await responseOf({ tool: 'save', args: { path: '/a' }, result: 'done', toolNames });
    const ran = await responseOf({ tool: 'run', result: 'done', toolNames });

    expect(written).toEqual({ content: 'done', is_error: false, filePath: '/a', success: true });
    expect(ran).toMatchObject({ content: 'done', is_error: false, stdout: 'done' });
    expect(recorded(lab)[0]).toMatchObject({ data: { result: { content: 'done', is_error: false } } });
  });

  test('reads nothing of a tool with an unknown name or of a failed read', async () => {
    const plain = { content: 'text', is_error: false };

    expect(await responseOf({ tool: 'bash', result: 'text' })).toEqual(plain);
    expect(await responseOf({ tool: 'constructor', result: 'text' })).toEqual(plain);
    expect(await responseOf({ tool: 'Read', result: new Error('none') })).not.toHaveProperty('file');
  });

  test('reads the result as earlier hooks changed it', async () => {
    const output = { hookSpecificOutput: { updatedToolOutput: 'hidden' } };
    const change = { ...answers('after_tool', output), dialect: 'claude' } as HookDefinition;
    const response = await responseOf({ tool: 'Bash', result: 'secret', hooks: [change, reading as HookDefinition] });

    expect(response).toMatchObject({ stdout: 'hidden' });
  });

  test('reads sensitive arguments and fields as redacted', async () => {
    const toolNames = { claude: { save: { name: 'Edit', args: { before: 'old_string' } } } };
    const call = { tool: 'save', args: { before: 'secret-1' }, result: { key: 'secret-2' }, toolNames };
    const response = await responseOf({ ...call, sensitive: ['before', 'key'] });

    expect(response).toMatchObject({ oldString: '[redacted]', key: '[redacted]' });
  });

  test('reads the same without an agent', async () => {
    const { runner } = shellHooks({ workspaceDir: lab.workspace, hooks: [reading as HookDefinition] });
    await runner.run('after_tool', { tool_name: 'Bash', result: { content: 'no', is_error: true } });

    expect(recorded(lab)[0]?.tool_response).toMatchObject({ stdout: '', stderr: 'no' });
  });
});

test.each(['native', 'codex'] as const)('a hook of %s reads the fields of Keelson alone', async (dialect) => {
  const hook = { ...records('after_tool'), dialect } as HookDefinition;

  expect(await responseOf({ tool: 'Bash', result: 'text', hooks: [hook] })).toEqual({
    content: 'text',
    is_error: false,
  });
});
