import { calls, says } from 'keelson/testing';
import type { ApprovalRequest } from 'keelson/trust';
import { expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Runs a call under the hooks of a file. Returns how often the tool ran, and the codes of the diagnostics. */
async function guarded(dialect: 'claude' | 'cursor' | 'native', path: string, content: object) {
  lab.write(path, `\uFEFF${JSON.stringify(content)}`);
  const asked: unknown[] = [];
  const approve = ({ files }: ApprovalRequest) => asked.push(...files.map((file) => file.path)) >= 0;
  const hooks = hooksIn(lab, { discover: [dialect], toolNames: { [dialect]: {} }, approve });
  const { tool, inputs } = countingTool('look');
  const { agent } = agentWith(lab, hooks, { script: [calls('look', {}), says('ok')], tools: [tool] });
  await agent.run('go');
  const { diagnostics, guards } = hooks.status();
  return { ran: inputs.length, codes: diagnostics.map(({ code }) => code), asked, guards };
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
  { exitCodes: 'yes' },
  { reads: 'PATH' },
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

  expect(await guarded('native', '.keelson/hooks.json', { hooks: { before_tool: [guard] } })).toMatchObject({
    ran: 0,
    codes: ['key-ignored'],
  });
});

test('a field that is not used is reported, and a wrong `onFailure` blocks', async () => {
  const hook = { command: 'exit 3', timeout: [], failClosed: 'True' };
  const failing = { type: 'command', command: 'exit 3', timeout: 5, onFailure: 'maybe' };

  expect(await guarded('cursor', '.cursor/hooks.json', { hooks: { preToolUse: [hook] } })).toMatchObject({
    ran: 0,
    codes: ['field-invalid', 'timeout-default'],
  });
  expect(
    await guarded('claude', '.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [failing] }] } }),
  ).toMatchObject({
    ran: 0,
    codes: ['field-invalid'],
  });
});

const guardWith = (files: unknown) => ({
  hooks: { before_tool: [{ name: 'g', command: 'sh', args: ['-c', 'exit 0'], onFailure: 'block', files }] },
});

test.each([['rules.txt'], [['rules.txt', 5]]])(
  'the approval covers each file of a wrong `files`: %j',
  async (files) => {
    lab.write('rules.txt', 'deny');
    lab.write('5', '');
    const expected = [files].flat().map(String).sort();

    expect(await guarded('native', '.keelson/hooks.json', guardWith(files))).toMatchObject({
      ...{ ran: 1, asked: expected, guards: [{ state: 'active' }], codes: ['field-invalid'] },
    });
  },
);

test('a guard whose approved `files` become unreadable blocks', async () => {
  lab.write('rules.txt', 'deny');
  expect(await guarded('native', '.keelson/hooks.json', guardWith(['rules.txt']))).toMatchObject({ ran: 1, codes: [] });

  expect(await guarded('native', '.keelson/hooks.json', guardWith({ file: 'rules.txt' }))).toMatchObject({
    ...{ ran: 0, asked: [], guards: [{ state: 'blocked' }] },
  });
});
