import type { LifecycleLoader } from 'keelson';
import type { HookRegistration, ShellHooksOptions } from 'keelson/shell-hooks';
import { says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Runs an agent with the tools `delete_file` and `mcp__sea__look` twice, and returns what its hooks reported. */
async function warningsOf(hooks: readonly Partial<HookRegistration>[], more: ShellHooksOptions = {}) {
  const loader = hooksIn(lab, {
    ...more,
    hooks: hooks.map((hook, at) => ({ ...sh('before_tool', 'true'), name: `guard-${at}`, ...hook })),
  });
  const tools = ['delete_file', 'mcp__sea__look'].map((name) => countingTool(name).tool);
  const { agent } = agentWith(lab, loader, { script: [says('one'), says('two')], tools });
  await agent.run('first');
  await agent.run('second');
  const unknown = loader.status().diagnostics.filter(({ code }) => code === 'matcher-unknown');
  return unknown.map(({ level, message }) => `${level}: ${message}`);
}

test('reports once all unknown tool names, as an error, with the nearest known name', async () => {
  expect(await warningsOf([{ matcher: 'delete_flie' }, { matcher: 'delete_file, wipe', event: 'after_tool' }])).toEqual(
    [
      'error: Some hooks guard no tool: ' +
        'the matcher of hook "guard-0": no tool is named "delete_flie"; did you mean "delete_file"?, and ' +
        'the matcher of hook "guard-1": no tool is named "wipe".',
    ],
  );
});

test.each([
  ['a tool', { matcher: 'delete_file' }],
  ['a tool of an MCP server', { matcher: 'mcp__sea__look' }],
  ['everything', { matcher: '*' }],
  ['a regular expression that matches a tool', { matcher: '^delete_' }],
  ['a regular expression in doubt', { matcher: '^(?!wipe)' }],
  ['a session event', { event: 'session_start', matcher: 'startup', dialect: 'claude' }],
  ['a foreign tool name without toolNames', { matcher: 'Bash|Write', dialect: 'claude' }],
] as const)('does not warn about %s', async (_what, hook) => {
  expect(await warningsOf([hook])).toEqual([]);
});

test.each(['claude', 'codex', 'copilot'] as const)(
  'in the %s dialect, accepts mapped names and lists with at least one mapped name',
  async (dialect) => {
    const toolNames = { [dialect]: { delete_file: 'Bash' } };

    expect(
      await warningsOf(
        [
          { matcher: 'Bash', dialect },
          { matcher: 'Write|Bash', dialect },
        ],
        { toolNames },
      ),
    ).toEqual([]);
    expect(await warningsOf([{ matcher: 'Wrote|Bsh', dialect }], { toolNames })).toEqual([
      expect.stringContaining('no tool is named "Wrote"; no tool is named "Bsh"; did you mean "Bash"?'),
    ]);
  },
);

test.each(['claude', 'codex', 'copilot'] as const)(
  'in the %s dialect, an empty mapping says that the tools have their names here',
  async (dialect) => {
    const toolNames = { [dialect]: {} };
    const hooks = [{ matcher: 'delete_file|Wipe', dialect }];

    expect(await warningsOf(hooks, { toolNames })).toEqual([]);
    expect(await warningsOf([{ matcher: 'Shell|Terminal', dialect }], { toolNames })).toEqual([
      expect.stringContaining('no tool is named "Shell"; no tool is named "Terminal"'),
    ]);
  },
);

test.each([
  ['native', '^wipe$', {}],
  ['gemini', 'run_shell', { toolNames: { gemini: {} } }],
  ['cursor', 'run_shell', { toolNames: { cursor: {} } }],
] as const)('reports a %s pattern that matches no tool as an error', async (dialect, matcher, more) => {
  expect(await warningsOf([{ matcher, dialect }], more)).toEqual([
    expect.stringMatching(
      /^error: Some hooks guard no tool: the matcher of hook "guard-0": the pattern `.*` matches no tool\.$/,
    ),
  ]);
});

test('knows the tools of a configured MCP server by their prefix, whether it is connected or not', async () => {
  const loader = hooksIn(lab, {
    hooks: ['mcp__pending__look', '^mcp__pending__.*$', 'mcp__other__look', '^mcp__other__'].map((matcher) => ({
      ...sh('before_tool', 'true'),
      matcher,
    })),
  });
  const pending: LifecycleLoader = {
    name: 'pending',
    load: (host) => void host.use({ tools: { revision: 0, list: () => [], prefixes: () => ['mcp__pending__'] } }),
  };
  const { agent } = agentWith(lab, loader, { script: [says('one')], loaders: [loader, pending] });
  await agent.run('first');

  const [unknown, ...more] = loader.status().diagnostics;
  expect(more).toEqual([]);
  expect(unknown?.message).toContain('no tool is named "mcp__other__look"');
  expect(unknown?.message).toContain('the pattern `^mcp__other__` matches no tool');
  expect(unknown?.message).not.toContain('pending');
});

test('checks a hook that is registered later at the next run', async () => {
  const loader = hooksIn(lab, { hooks: [] });
  const { agent } = agentWith(lab, loader, { script: [says('one'), says('two')] });
  await agent.run('first');
  loader.registry.register({ ...sh('before_tool', 'true'), matcher: 'wipe' });
  await agent.run('second');

  expect(loader.status().diagnostics.map(({ code }) => code)).toEqual(['matcher-unknown']);
});
