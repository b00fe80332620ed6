import { calls, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Runs a call under the hooks of a file. Returns how often the tool ran, and the codes of the diagnostics. */
async function guarded(dialect: 'claude' | 'cursor' | 'native', path: string, content: object) {
  lab.write(path, `\uFEFF${JSON.stringify(content)}`);
  const hooks = hooksIn(lab, { discover: [dialect], toolNames: { [dialect]: {} }, approve: () => true });
  const { tool, inputs } = countingTool('look');
  const { agent } = agentWith(lab, hooks, { script: [calls('look', {}), says('ok')], tools: [tool] });
  await agent.run('go');
  return { ran: inputs.length, codes: hooks.status().diagnostics.map(({ code }) => code) };
}

const fields = [
  { timeout: '10' },
  { timeout: 'soon' },
  { timeout: -1 },
  { timeout: null },
  { name: 5 },
  { onFailure: 'BLOCK' },
  { onFailure: 'maybe' },
  { matcher: null },
];

test.each(fields)('a guard with %j keeps its place in a file of Claude Code', async (field) => {
  const { matcher, ...more } = field as { matcher?: null };
  const group = { matcher, hooks: [{ type: 'Command', command: 'exit 2', timeout: 5, ...more }] };

  expect(await guarded('claude', '.claude/settings.json', { hooks: { PreToolUse: [group] } })).toMatchObject({
    ran: 0,
  });
});

test.each(fields)('a guard with %j keeps its place in a native file', async (field) => {
  const guard = { name: 'g', command: 'sh', args: ['-c', 'exit 2'], exitCodes: true, ...field };

  expect(await guarded('native', '.keelson/hooks.json', { hooks: { before_tool: [guard] } })).toMatchObject(
    'name' in field ? { codes: ['hook-invalid'] } : { ran: 0 },
  );
});

test('a guard with an unknown field keeps its place in a native file, and the field is reported', async () => {
  const guard = { name: 'g', command: 'sh', args: ['-c', 'exit 2'], exitCodes: true, enabled: false };

  expect(await guarded('native', '.keelson/hooks.json', { hooks: { before_tool: [guard] } })).toEqual({
    ran: 0,
    codes: ['key-ignored'],
  });
});

test('a field that is not used is reported, and a wrong `onFailure` blocks', async () => {
  const hook = { command: 'exit 3', timeout: [], failClosed: 'True' };
  const failing = { type: 'command', command: 'exit 3', timeout: 5, onFailure: 'maybe' };

  expect(await guarded('cursor', '.cursor/hooks.json', { hooks: { preToolUse: [hook] } })).toEqual({
    ran: 0,
    codes: ['field-invalid', 'timeout-default'],
  });
  expect(await guarded('claude', '.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [failing] }] } })).toEqual({
    ran: 0,
    codes: ['field-invalid'],
  });
});
